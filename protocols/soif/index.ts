export * from './annotation.js';
export type { SoifWarning } from './attempt.js';
export { truncateKeywords, withoutBinary } from './binary.js';
export * from './bookkeeping.js';
export * from './combine.js';
export {
  decodeAttributes,
  decodeSoif,
  type ItemDecoder,
  SoifBodyDecoder,
  SoifDecoder,
  type SoifItem,
} from './decoder.js';
export {
  encodeAttributes,
  encodeSoif,
  encodeVerbatim,
  type SoifEncoderOptions,
  type SoifParts,
} from './encoder.js';
export type { OutlineAttribute, SoifOutline } from './kept-attributes.js';
export { cleanName, isAttributeName, isTemplateType, type NameList } from './names.js';
export { DEFAULT_TYPE, type SoifAttribute, type SoifLayout, SoifObject, type SoifValue } from './object.js';
export { MAX_OBJECT_BYTES, type SoifDecoderOptions, type SoifDialect } from './options.js';
export * from './outline.js';
export { SECTION_CLOSE, SECTION_OPEN, SectionDecoder, type SectionItem } from './sections.js';
export type { SectionName } from './stream-reader.js';
export { cutText, decodeText, decodeUrlLines, endLastLine } from './text.js';
export {
  bytesOfUrl,
  escapeBlanks,
  hrefOfUrl,
  textOfUrl,
  urlFields,
  urlOfBytes,
  urlOfText,
  urlProblem,
} from './url-bytes.js';
