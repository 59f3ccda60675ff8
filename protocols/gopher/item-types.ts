// The item types of Gopher: the form of the reply, and its media type.
/** The form of the reply to a selector. */
export type GopherKind =
  /** Lines of items; `search` needs search words. */
  | 'menu'
  | 'search'
  /** Ends with a line of one dot; dots at line beginnings are doubled. */
  | 'text'
  /** Ends with the connection. */
  | 'binary'
  /** Nothing to retrieve: an information line, an error, a terminal session, a phone book. */
  | 'nothing';

export interface GopherItemType {
  readonly kind: GopherKind;
  /** The media type; absent when the item type does not determine it. */
  readonly mediaType?: string;
}

/** Content type of a menu. */
export const GOPHER_MENU_TYPE = 'application/gopher-menu';

const MENU = { kind: 'menu', mediaType: GOPHER_MENU_TYPE } as const;
const BINARY = { kind: 'binary' } as const;
const NOTHING = { kind: 'nothing' } as const;

/** RFC 1436 section 3.8, and the types that came into use after it. */
const TYPES: ReadonlyMap<string, GopherItemType> = new Map<string, GopherItemType>([
  ['0', { kind: 'text', mediaType: 'text/plain' }],
  ['1', MENU],
  ['2', NOTHING],
  ['3', NOTHING],
  ['4', { kind: 'binary', mediaType: 'application/mac-binhex40' }],
  ['5', BINARY],
  ['6', { kind: 'text', mediaType: 'text/x-uuencode' }],
  ['7', { kind: 'search', mediaType: GOPHER_MENU_TYPE }],
  ['8', NOTHING],
  ['9', BINARY],
  ['+', NOTHING],
  ['T', NOTHING],
  ['g', { kind: 'binary', mediaType: 'image/gif' }],
  ['I', BINARY],
  ['h', { kind: 'binary', mediaType: 'text/html' }],
  ['i', NOTHING],
  ['s', BINARY],
  ['d', BINARY],
  ['p', { kind: 'binary', mediaType: 'image/png' }],
  ['P', { kind: 'binary', mediaType: 'application/pdf' }],
  ['r', { kind: 'binary', mediaType: 'application/rtf' }],
  ['x', { kind: 'binary', mediaType: 'application/xml' }],
  ['M', { kind: 'binary', mediaType: 'message/rfc822' }],
]);

/** The type of an item's first character; unknown types are binary, as in other clients. */
export function gopherItemType(type: string): GopherItemType {
  return TYPES.get(type) ?? BINARY;
}
