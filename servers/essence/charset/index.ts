// Character sets: the text of bytes in a character set that is declared, or not (E-77).
export { DOS_CHARSETS, decodeBytes, decodeText, NameDecoder, OriginCharsets } from './decode.js';
export { decodeAs, labelOf } from './decoders.js';
export { isMisreadCyrillic } from './guess.js';
export { isBinary, wideCharset } from './marks.js';
