// The data of a command that the help shows without loading it.
import type { Command } from 'commander';

/** The groups of `harvest --help` in the order of the help, with their headings. */
export const GROUPS = {
  servers: 'Gatherers, Brokers and other servers:',
  clients: 'Clients:',
  soif: 'SOIF streams:',
  databases: "A Gatherer's databases:",
  testing: 'Testing:',
} as const;

/** One command of `harvest`: the data that the help shows without loading the command's module. */
export interface CommandEntry {
  /** The command's name after `harvest`; also the name of a link to `harvest.js` that runs the command. */
  readonly name: string;
  /** Other names of such links: those of the original programs, if they differ. */
  readonly originals: readonly string[];
  readonly group: keyof typeof GROUPS;
  /** One line for `harvest --help`. */
  readonly summary: string;
  /** Imports the command's module, so that no command loads what only others need. */
  readonly load: () => Promise<Command>;
}
