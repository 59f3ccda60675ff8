// The administrative commands of the form and the help, in groups.
import {
  ADMIN_COMMANDS,
  type AdminCommand,
  type AdminCommandTitle,
} from '../../../protocols/broker/index.js';

/** An administrative command in the form (BRK-5.1). */
interface OfferedCommand extends AdminCommandTitle {
  /** Whether it deletes objects or ends the program; the page's script then asks for confirmation. */
  readonly destructive: boolean;
}

/** A heading of the form and the help, with its commands. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly OfferedCommand[];
}

type Kind = AdminCommand['kind'];

/** Commands that cannot be undone. */
const DESTRUCTIVE: readonly Kind[] = [
  'clean-broker',
  'rem-dups',
  'rem-object-oid',
  'rem-object-path',
  'rem-object-query',
  'restart',
  'shutdown',
];

/** The groups of commands, the most used first. A command that is not listed belongs to the first group. */
const SUBJECTS: readonly (readonly [string, readonly Kind[]])[] = [
  ['Objects', ['collection']],
  ['Index and registry', ['incremental-index', 'full-index', 'compress-registry', 'do-stats']],
  ['Log', ['add-log', 'rem-log', 'flush-log', 'rotate-log', 'open-log', 'close-log']],
  ['Server', ['set', 'restart', 'shutdown']],
];

/** Every command of BRK-5.1 with its title, by group. */
export const COMMAND_GROUPS: readonly CommandGroup[] = SUBJECTS.map(([title, first], i) => {
  const elsewhere = SUBJECTS.slice(1).flatMap(([, kinds]) => kinds);
  const rest = ADMIN_COMMANDS.map(({ kind }) => kind).filter(
    (kind) => !elsewhere.includes(kind) && !first.includes(kind),
  );
  const kinds = i === 0 ? [...first, ...rest] : first;
  const commands = kinds.flatMap((kind) => ADMIN_COMMANDS.filter((command) => command.kind === kind));
  return {
    title,
    commands: commands.map((command) => ({ ...command, destructive: DESTRUCTIVE.includes(command.kind) })),
  };
});
