// The groups in the replies of the kit's own Broker, of both interfaces, so that a mutant can change them.
import { gunzipSync, gzipSync } from 'node:zlib';
import { objectsIn, sectionsOf } from './soif-text.js';

/** Whether a message requests interface 2. */
export const isProposed = (message: string) => /#interface 2/.test(message);
/** Changes the objects of a group. */
export type Edit = (objects: readonly string[]) => readonly string[];

/** BP-10 */
export const START = '150 - gzip begin\n';
export const END = '151 - gzip end\n';
const UPDATE = '@UPDATE {\n';

/** Changes the updates in the groups of a reply, which end with its last brace. */
export function updates(reply: string, edit: Edit): string {
  const at = reply.indexOf('@DELETE {\n');
  if (at < 0) return reply;
  const sections = sectionsOf(reply.slice(at)).map((section) =>
    section.startsWith(UPDATE) ? `${UPDATE}${edit(objectsIn(section)).join('')}}\n` : section,
  );
  return reply.slice(0, at) + sections.join('');
}

/** Changes the groups of a reply in interface 2. */
export function inGroups(reply: string, edit: Edit): string {
  const at = reply.indexOf('@DELETE');
  const end = reply.lastIndexOf('}\n') + 2;
  return at < 0 ? reply : reply.slice(0, at) + updates(reply.slice(at, end), edit) + reply.slice(end);
}

/** Changes the groups in the gzip member of a reply. */
export function inMember(reply: string, edit: Edit): string {
  const at = reply.indexOf(START) + START.length;
  const end = reply.lastIndexOf(END);
  if (end < 0) return reply;
  const data = gunzipSync(Buffer.from(reply.slice(at, end), 'latin1')).toString('latin1');
  const member = gzipSync(Buffer.from(updates(data, edit), 'latin1')).toString('latin1');
  return reply.slice(0, at) + member + reply.slice(end);
}

/** Whether a reply is a transfer in the shipped format. */
export const isShipped = (reply: string) => reply.startsWith('000 - ');
/** Whether a message requests everything. */
export const isEverything = (message: string) => /#END #ALLB/.test(message);

/** Changes the objects of a reply, of whichever form. */
export function inReply(reply: string, edit: Edit): string {
  if (isShipped(reply)) return updates(reply, edit);
  return reply.includes(START) ? inMember(reply, edit) : inGroups(reply, edit);
}
