// Character sets: the text of bytes in a character set that is declared, or not (E-77).
export { decodeBytes, decodeText } from './decode.js';
export { decodeAs, labelOf } from './decoders.js';
export { isMisreadCyrillic } from './guess.js';
export { isBinary, wideCharset } from './marks.js';
export { DOS_CHARSETS, NameDecoder } from './names.js';
export { OriginCharsets } from './origins.js';
