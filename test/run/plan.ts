// Decides which scripts run, in which order. Pure: the changed paths, the budgets and the number of the turn
// are arguments.
import type { Script } from './script.js';

/** The scripts of a run, the longest first. */
export interface Plan {
  /** Run whatever they take. */
  readonly required: readonly Script[];
  /** Begin only while there is time: first those of changed paths, then those whose turn it is. */
  readonly optional: readonly Script[];
  /** Names of what is left out because the budget is used up, not because it belongs to another turn. */
  readonly postponed: readonly string[];
}

/** What a plan of the gate depends on. */
export interface GateInputs {
  /** Changed files, from the root of the project. */
  readonly changed: readonly string[];
  /** The turn of the scripts that no change selects: a number that grows with each commit. */
  readonly turn: number;
  /** Processor seconds for scripts of changed paths. */
  readonly changedSeconds: number;
  /** Processor seconds for scripts whose turn it is. */
  readonly turnSeconds: number;
}

/** The scripts that no change selects run each twelfth time. */
export const TURNS = 12;

/** Returns whether a script stands for one of the changed files. */
export function standsFor(script: Script, changed: readonly string[]): boolean {
  const own = `test/${script.name}.`;
  return changed.some(
    (file) =>
      file.startsWith(own) || script.paths.some((path) => file === path || file.startsWith(`${path}/`)),
  );
}

/** Plans `npm test`: all scripts of the core tier. */
export function planCore(manifest: readonly Script[]): Plan {
  return {
    required: longestFirst(manifest.filter(({ tier }) => tier === 'core')),
    optional: [],
    postponed: [],
  };
}

/**
 * Plans the gate's part after `npm test`: the checks, scripts of changed paths, then those whose turn it is,
 * each within its budget.
 */
export function planGate(manifest: readonly Script[], inputs: GateInputs): Plan {
  const inGate = manifest.filter(({ tier, kind }) => tier === 'gate' && kind !== 'measured');
  // The commands are checks of the whole project.
  const required = inGate.filter(({ command }) => command !== undefined);
  const candidates = inGate.filter(({ command }) => command === undefined);
  // First the tests of the code itself. Then the short ones: a long script must not keep out several of them.
  const changed = candidates
    .filter((script) => standsFor(script, inputs.changed))
    .sort((a, b) => Number(isArea(b)) - Number(isArea(a)) || byLength(a, b));
  const rest = candidates.filter((script) => !changed.includes(script));
  const inTurn = rest.filter((_, index) => index % TURNS === inputs.turn % TURNS).sort(byLength);
  const [first, tooLong] = fill(changed, inputs.changedSeconds);
  const [second, tooLongInTurn] = fill(inTurn, inputs.turnSeconds);
  return {
    required: longestFirst(required),
    optional: [
      ...first.filter(isArea),
      ...longestFirst(first.filter((script) => !isArea(script))),
      ...longestFirst(second),
    ],
    postponed: [...tooLong, ...tooLongInTurn].map(({ name }) => name).sort(),
  };
}

/**
 * Plans `npm run verify`.
 * @param areas names of scripts, beginnings of them, or paths of the project; all scripts if empty
 * @throws RangeError an area that selects nothing
 */
export function planVerify(manifest: readonly Script[], areas: readonly string[]): Plan {
  const selected = new Set<Script>();
  for (const area of areas) {
    const matches = manifest.filter((script) => belongsTo(script, area));
    if (matches.length === 0) throw new RangeError(`no script is called ${area}, and none stands for it`);
    for (const script of matches) selected.add(script);
  }
  const required = areas.length === 0 ? manifest : [...selected];
  return { required: longestFirst(required), optional: [], postponed: [] };
}

function belongsTo(script: Script, area: string): boolean {
  const { name, paths } = script;
  if (name === area || name.startsWith(`${area}/`) || name.split('/').includes(area)) return true;
  return paths.some(
    (path) => path === area || path.startsWith(`${area}/`) || path.split('/').at(-1) === area,
  );
}

/** Takes scripts in their order as long as the budget lasts; returns them, and those that no longer fit. */
function fill(scripts: readonly Script[], budget: number): [Script[], Script[]] {
  const taken: Script[] = [];
  const left: Script[] = [];
  let seconds = 0;
  for (const script of scripts) {
    if (seconds + script.seconds > budget) {
      left.push(script);
      continue;
    }
    seconds += script.seconds;
    taken.push(script);
  }
  return [taken, left];
}

function isArea({ name }: Script): boolean {
  return name.startsWith('areas/');
}

function byLength(a: Script, b: Script): number {
  return a.seconds - b.seconds || (a.name < b.name ? -1 : 1);
}

/** Sorts so that the last script to end began early. */
function longestFirst(scripts: readonly Script[]): Script[] {
  return [...scripts].sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1));
}
