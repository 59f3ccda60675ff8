// Looks up links and documents, and writes the replies to the five requests.
import {
  CODES,
  codeOfKind,
  isSiteKind,
  type LinkRequest,
  type ReplyWriter,
  type LinkKind as RequestKind,
  type UrlByNameRequest,
} from '../../protocols/sstp/index.js';
import type { LinkKind, LinkList, References } from '../../storage/references/contract.js';

/** limit of the IDs in one reply. */
export const MAX_RESULTS = 10_000;

const LIST_OF: Readonly<Record<RequestKind, LinkKind>> = {
  references: 'refs',
  referers: 'hubs',
  'site-references': 'siterefs',
  'site-referers': 'sitehubs',
};

const COUNTER_OF = {
  references: CODES.references.symbol,
  referers: CODES.referers.symbol,
  'site-references': CODES.siteReferences.symbol,
  'site-referers': CODES.siteReferers.symbol,
} as const satisfies Record<RequestKind, string>;

/** Name of the counter for requests of a kind. */
export function counterOf(kind: RequestKind): (typeof COUNTER_OF)[RequestKind] {
  return COUNTER_OF[kind];
}

/** Returns at most `count` IDs of a list, from `start` on. */
export type Pager = (
  references: References,
  kind: LinkKind,
  id: number,
  list: LinkList,
  start: number,
  count: number,
) => Uint32Array;

/** the stored order. */
export const naturalOrder: Pager = (_references, _kind, _id, list, start, count) => list.page(start, count);

/** Links found for a request. */
interface FoundLinks {
  readonly found: number;
  /** At most the requested number and {@link MAX_RESULTS}. */
  readonly ids: Uint32Array;
}

const NONE: FoundLinks = { found: 0, ids: new Uint32Array(0) };

/**
 * Looks up the links.
 *
 * @returns undefined if the document or server is unknown
 */
function findLinks(
  references: References | undefined,
  request: LinkRequest,
  pager: Pager = naturalOrder,
): FoundLinks | undefined {
  if (references === undefined) return undefined;
  const site = isSiteKind(request.kind);
  const id = request.id === 0 ? idByName(references, site, request.name) : request.id;
  if (id === undefined) return undefined;
  const kind = LIST_OF[request.kind];
  const list = references.links(kind, id);
  if (list === undefined) {
    const known = site ? references.server(id) !== undefined : references.knows(id);
    return known ? NONE : undefined;
  }
  const count = Math.min(request.count ?? MAX_RESULTS, MAX_RESULTS);
  // neither a start beyond the end nor a count of 0, for the total alone, is an error.
  const ids =
    count === 0 || request.start >= list.total
      ? NONE.ids
      : pager(references, kind, id, list, request.start, count);
  return { found: list.total, ids };
}

/** Writes the answer to a link request; false if the document or server is unknown. */
export function answerLinks(
  references: References | undefined,
  request: LinkRequest,
  replies: ReplyWriter,
  pager?: Pager,
): boolean {
  const links = findLinks(references, request, pager);
  const generation = request.generation === true ? (references?.stamp ?? 0) : undefined;
  if (links === undefined) {
    replies.writeNotFound(generation);
    return false;
  }
  const { found, ids } = links;
  replies.writeLinks(codeOfKind(request.kind), found, request.start, ids, 0, ids.length, generation);
  return true;
}

/** Writes the description of a document; false if its URL is unknown. */
export function answerDescription(
  references: References | undefined,
  request: UrlByNameRequest,
  replies: ReplyWriter,
): boolean {
  const document = references?.documentByUrl(request.url);
  const server = document && references?.server(document.serverId);
  if (document === undefined || server === undefined) {
    replies.writeNotFound();
    return false;
  }
  const { id, serverId, protocol, uri, time, checkTime, length } = document;
  const { name: host, port } = server;
  replies.writeDescription({ id, serverId, protocol, host, port, uri, time, checkTime, length });
  return true;
}

function idByName(references: References, site: boolean, name: string): number | undefined {
  return site ? references.serverByName(name)?.id : references.idByUrl(name);
}
