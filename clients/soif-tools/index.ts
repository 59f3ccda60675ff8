export { makeTemplates, type TemplateOptions } from './annotations.js';
export { urlReferences, wrapAttribute } from './attributes.js';
export { attemptLine, checkSoif, countsLine, type SoifAttempt, type SoifCounts } from './check.js';
export { type InputOptions, inputName, readInput, STANDARD_INPUT } from './input.js';
export type { JsonLineHead } from './json-lines.js';
export {
  type JsonLineObject,
  type JsonLinesOptions,
  jsonLine,
  readJsonLines,
} from './json-lines.js';
export { jsonPieces, largeUrlReferences } from './large-objects.js';
export * from './objects.js';
export { checkAsOriginal, type OriginalAttempt, type OriginalCounts } from './original-check.js';
