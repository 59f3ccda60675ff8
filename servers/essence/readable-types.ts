import { SUMMARIZERS } from './summarizers/index.js';
import { CONVERTERS } from './unnest/converters/index.js';
import { FORMATS, MESSAGE_TYPES } from './unnest/formats.js';

/** Whether Essence has a summarizer, an unnester or a converter of its own for the type. */
export function isReadable(type: string): boolean {
  return SUMMARIZERS.has(type) || FORMATS.has(type) || MESSAGE_TYPES.has(type) || CONVERTERS.has(type);
}
