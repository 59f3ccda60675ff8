export {
  AnnotationDecoder,
  type AnnotationItem,
  type AnnotationOptions,
  type AnnotationWarning,
  decodeAnnotations,
} from './annotation.js';
export type { SoifWarning } from './attempt.js';
export { truncateKeywords, withoutBinary } from './binary.js';
export { decodeAttributes, SoifBodyDecoder } from './body.js';
export {
  BOOKKEEPING_NAMES,
  hasExpired,
  identityOf,
  isExpired,
  isSameObject,
  type Lifetime,
  lastValidSecond,
  REQUIRED_NAMES,
  type SoifIdentity,
  type SoifTimes,
  timesOf,
} from './bookkeeping.js';
export {
  type ByteSource,
  rangeOf,
  readRange,
  type SoifBytes,
} from './byte-source.js';
export {
  arrangeAttributes,
  embedSoif,
  foldMultiValues,
  mergeSoif,
  sortAttributes,
} from './combine.js';
export { decodeSoif, SoifDecoder, type SoifItem } from './decoder.js';
export { encodeAttributes, encodeSoif, type SoifEncoderOptions } from './encoder.js';
export type { OutlineAttribute, SoifOutline } from './kept-attributes.js';
export type { NameList } from './names.js';
export { cleanName, isAttributeName, isTemplateType } from './names.js';
export type { SoifLayout } from './object.js';
export { DEFAULT_TYPE, type SoifAttribute, SoifObject, type SoifValue } from './object.js';
export { MAX_OBJECT_BYTES, type SoifDecoderOptions, type SoifDialect } from './options.js';
export { attributeOf, readOutline, rewriteLarge } from './outline.js';
export { SECTION_CLOSE, SECTION_OPEN, SectionDecoder, type SectionItem } from './sections.js';
export type { SectionName } from './stream-reader.js';
export { cutText, decodeText, endLastLine } from './text.js';
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
export { decodeUrlLines } from './url-lines.js';
export { isValid, problemOf, type SoifProblem } from './validity.js';
export { encodeVerbatim, type SoifParts } from './verbatim.js';
