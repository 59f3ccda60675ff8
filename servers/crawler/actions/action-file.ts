// The names of action files (CRAWL-17.1.4).

/** What an action file does, by the ending of its name. */
const ACTIONS = ['seeds', 'recover', 'include', 'schedule', 'force'] as const;
type Action = (typeof ACTIONS)[number];

export interface ActionFile {
  readonly action: Action;
  /** Whether the URIs must be in scope: `.s` stands before the ending. Seeds always must. */
  readonly checkScope: boolean;
}

const NAME = new RegExp(`^(?!\\.).*?(\\.s)?\\.(${ACTIONS.join('|')})(?:\\.gz)?$`);

/** Returns what a file asks for; undefined if its name does not say so, e.g. while it is written as `x.tmp` or `.x`. */
export function parseActionName(name: string): ActionFile | undefined {
  const match = NAME.exec(name);
  const action = ACTIONS.find((known) => known === match?.[2]);
  return action === undefined ? undefined : { action, checkScope: match?.[1] !== undefined };
}

/** CRAWL-17.1.4: the name in the directory of done files: the time as 17 digits, UTC to the millisecond, before the name. */
export function doneName(name: string, time: number): string {
  return `${new Date(time).toISOString().replace(/\D/g, '')}.${name}`;
}
