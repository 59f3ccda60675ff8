import { convertIafa } from './iafa.js';
import type { FoundObject } from './lines.js';
import { convertLsm } from './lsm.js';
import { convertNetfind } from './netfind.js';
import { convertPcIndex } from './pc-index.js';

export type { FoundObject } from './lines.js';

/** Converts a document's text to objects; `url` is that of the document. */
export type Converter = (text: string, url: string) => Iterable<FoundObject>;

/** E-46, E-48 to E-51: the built-in Exploders by type. */
export const CONVERTERS: ReadonlyMap<string, Converter> = new Map<string, Converter>([
  ['LSM', convertLsm],
  ['IAFA', convertIafa],
  ['PCIndex', convertPcIndex],
  ['Netfind', convertNetfind],
]);
