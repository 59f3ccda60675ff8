export { Extraction } from './extraction.js';
export { AttributeLines, type ExtractedAttributes, type ExtractionOptions } from './lines.js';
export { readProlog } from './prolog.js';
export { readMarkupEvents, type SgmlEvents } from './reader.js';
export {
  type SgmlDocument,
  type SgmlOptions,
  sgmlSummarizer,
  summarizeMarkup,
  summarizeSgml,
} from './summarize.js';
export { type ExtractionTable, parseExtractionTable } from './table.js';
export {
  compileSgmlTypes,
  readSgmlSources,
  type SgmlSources,
  type SgmlType,
  type SgmlTypeSource,
  type SgmlTypes,
} from './types.js';
