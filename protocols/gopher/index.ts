export {
  DotUnstuffer,
  decodeGopherText,
  type GopherPlusHeader,
  gopherTextEnd,
  parseGopherError,
  parseGopherPlusHeader,
} from './body.js';
export * from './gopher-url.js';
export { GOPHER_MENU_TYPE, type GopherItemType, type GopherKind, gopherItemType } from './item-types.js';
export { type GopherItem, GopherMenuDecoder, type MenuLimits, parseGopherItem } from './menu-decoder.js';
