export { readProlog } from './prolog.js';
export { readMarkupEvents } from './reader.js';
export { summarizeSgml } from './summarize.js';
export { parseExtractionTable } from './table.js';
export {
  compileSgmlTypes,
  readSgmlSources,
  type SgmlSources,
  type SgmlType,
  type SgmlTypes,
} from './types.js';
