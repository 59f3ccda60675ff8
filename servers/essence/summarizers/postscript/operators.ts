import { CONTROL_OPERATORS } from './control.js';
import { CONVERSION_OPERATORS } from './conversion.js';
import { DATA_OPERATORS } from './data.js';
import type { OperatorBody } from './machine.js';
import { PAINT_OPERATORS } from './paint.js';
import { PICTURE_OPERATORS } from './pictures.js';
import { TYPE_OPERATORS } from './type.js';

/** Every supported operator, by name. */
export const OPERATORS: ReadonlyMap<string, OperatorBody> = new Map([
  ...DATA_OPERATORS,
  ...CONVERSION_OPERATORS,
  ...CONTROL_OPERATORS,
  ...PAINT_OPERATORS,
  ...TYPE_OPERATORS,
  ...PICTURE_OPERATORS,
]);
