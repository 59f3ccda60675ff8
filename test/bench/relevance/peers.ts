// Other searchers over the same documents: programs in Python beside this file's source.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import type { Judged } from './judgments.js';

/** A searcher. */
export interface Peer {
  readonly label: string;
  /**
   * A program that reads queries, one a line, and prints a JSON list of pages for each; 3 if something is
   * missing.
   */
  readonly program: string;
  readonly needs: string;
  /** Whether its weights are those that it is shipped with, not the best of those tried. */
  readonly isShipped?: true;
}

const XAPIAN: Peer = {
  label: 'Xapian',
  program: 'xapian_search.py',
  needs: 'python3-xapian of Debian is not installed',
};
const FTS5: Peer = {
  label: 'SQLite FTS5',
  program: 'fts5_search.py',
  needs: 'SQLite with FTS5 in Python is not installed',
};

export const PEERS: readonly Peer[] = [XAPIAN, FTS5].flatMap((peer) => [
  peer,
  { ...peer, label: shippedLabel(peer.label), isShipped: true as const },
]);

/** The name of a searcher with the weights that it is shipped with. */
export function shippedLabel(label: string): string {
  return `${label}, as shipped`;
}

/** Debian's Python, to which its packages belong. */
const PYTHON = '/usr/bin/python3';
const NOT_INSTALLED = 3;
const pages = z.array(z.string());

/** Returns the pages of each query; undefined if the searcher is not installed. */
export async function askPeer(
  { program, label, isShipped }: Peer,
  documents: string,
  judged: readonly Judged[],
  limit: number,
): Promise<string[][] | undefined> {
  const script = join('test', 'bench', 'relevance', program);
  const { status, stdout, stderr, error } = spawnSync(
    PYTHON,
    [script, documents, String(limit), ...(isShipped ? ['shipped'] : [])],
    {
      input: judged.map(({ query }) => `${query}\n`).join(''),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  );
  if (error !== undefined || status === NOT_INSTALLED) return undefined;
  if (status !== 0) throw new Error(`${label}: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => pages.parse(JSON.parse(line)));
}
