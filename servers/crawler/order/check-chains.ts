// Checks of the chains of an order, and the settings that its processors give.
import { KitError } from '../../../protocols/errors.js';
import { CHAIN_NAMES } from '../chains.js';
import { decideSequence } from '../decide/build-rules.js';
import type { ProcessorDescriptor } from '../processors/parts.js';
import { PROCESSORS, processorNamed } from '../processors/table.js';
import { type ChainConditions, chainSteps, type ProcessorEntry } from './chain-config.js';

/** A problem of an order whose values are all valid. */
export interface OrderProblem {
  /** Property names and array indexes. */
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/**
 * Returns the errors of the chains: unknown names, processors in the wrong chain or order, missing ones
 * (CRAWL-11.1).
 */
export function chainProblems(order: ChainConditions): OrderProblem[] {
  const problems: OrderProblem[] = [];
  const { chains } = order;
  for (const chain of CHAIN_NAMES) {
    const names = new Set<string>();
    chains[chain]?.forEach((entry, index) => {
      const path = ['chains', chain, index];
      const report = (problem: string | undefined, ...names: readonly string[]): void => {
        if (problem !== undefined) problems.push({ path: [...path, ...names], problem });
      };
      report(entryProblem(entry));
      report(rulesProblem(entry), 'rules');
      const name = entry.processor ?? entry.name;
      if (name !== undefined && names.has(name)) report(`the chain has two processors ${name}`);
      if (name !== undefined) names.add(name);
      if (entry.processor === undefined) return;
      const known = processorNamed(entry.processor);
      if (known === undefined) report(`there is no processor ${entry.processor}${hintFor(entry.processor)}`);
      else if (known.chain !== chain) report(`${known.name} belongs into the chain ${known.chain}`);
      else if (known.required === true && (!entry.enabled || entry.rules.length > 0))
        report(`${known.name} is necessary for every URI: it has neither rules nor "enabled": false`);
      else if (entry.enabled && isUnavailable(known.with, order))
        report(
          `${known.name} requires ${known.with === 'mapper.crawlers' ? known.with : 'warc.directory'} (${known.rule})`,
        );
    });
  }
  return problems.length > 0 ? problems : sequenceProblems(order);
}

/** Whether the order lacks the option without which the processor has nothing to do. */
function isUnavailable(option: ProcessorDescriptor['with'], { warc, mapper }: ChainConditions): boolean {
  if (option === undefined) return false;
  return option === 'mapper.crawlers' ? mapper.crawlers === 0 : warc.directory === '';
}

function entryProblem({ processor, module, name }: ProcessorEntry): string | undefined {
  if ((processor === undefined) === (module === undefined))
    return 'either "processor", a name, or "module", a path, is necessary';
  if (processor !== undefined && name !== undefined) return 'only a processor with "module" has a "name"';
  // A package or a URL would bring code from elsewhere.
  if (module !== undefined && !/^(?:\.{0,2}\/)/.test(module))
    return `${module}: a module is a path that begins with ./, ../ or /`;
  return undefined;
}

function rulesProblem({ rules }: ProcessorEntry): string | undefined {
  try {
    decideSequence(rules, { seeds: [] });
    return undefined;
  } catch (error) {
    if (error instanceof KitError) return error.message;
    throw error;
  }
}

/** Problems of whole chains: missing processors, and their order. */
function sequenceProblems(order: ChainConditions): OrderProblem[] {
  const problems: OrderProblem[] = [];
  const steps = chainSteps(order);
  const present = new Set(
    CHAIN_NAMES.flatMap((chain) => steps[chain].flatMap(({ entry }) => entry.processor ?? [])),
  );
  for (const { name, chain, required } of PROCESSORS)
    if (required === true && !present.has(name))
      problems.push({ path: ['chains', chain], problem: `${name} is missing, which is necessary` });
  for (const chain of CHAIN_NAMES) {
    const before = new Set<string>();
    const inChain = new Set(steps[chain].map(({ entry }) => entry.processor));
    for (const { entry } of steps[chain]) {
      const { name, requires = [], after = [] } = processorNamed(entry.processor) ?? { name: '' };
      if (name === '') continue;
      const path = ['chains', chain, order.chains[chain]?.indexOf(entry) ?? -1];
      const missing = requires.find((other) => !present.has(other));
      if (missing !== undefined)
        problems.push({
          path,
          problem: `${name} has no effect without ${missing} in the chain ${processorNamed(missing)?.chain}`,
        });
      const late = after.find((other) => inChain.has(other) && !before.has(other));
      if (late !== undefined) problems.push({ path, problem: `${name} must come after ${late}` });
      before.add(name);
    }
  }
  return problems;
}

function hintFor(name: string): string {
  const simple = (text: string): string => text.replace(/[^a-z]|processor|enforcer/gi, '').toLowerCase();
  const className = name.replace(/^.*\./, '');
  const found =
    PROCESSORS.find(({ formerNames, classes }) =>
      [formerNames, classes].some((names) => names?.includes(className)),
    ) ?? PROCESSORS.find((processor) => simple(processor.name) === simple(name));
  return found === undefined
    ? `; the processors are ${PROCESSORS.map((processor) => processor.name).join(', ')}`
    : `; ${found.name} is meant?`;
}

export interface ChainSettings {
  /** The order with the settings of its processors among its own. */
  readonly order: unknown;
  /** Where the operator wrote a setting that was moved, by its path in `order`. */
  readonly origins: ReadonlyMap<string, readonly PropertyKey[]>;
  readonly problems: readonly OrderProblem[];
}

/**
 * Moves the settings that entries of this project's processors give to those of the order, so that sheets
 * override them like any others.
 * @param order as the operator wrote it; parts of another form stay for the schema to refuse
 */
export function withChainSettings(order: unknown): ChainSettings {
  const problems: OrderProblem[] = [];
  const origins = new Map<string, readonly PropertyKey[]>();
  if (!isRecord(order) || !isRecord(order.chains)) return { order, origins, problems };
  const settings = isRecord(order.settings) ? { ...order.settings } : {};
  const warc = isRecord(order.warc) ? { ...order.warc } : {};
  const chains: Record<string, unknown> = { ...order.chains };
  for (const [chain, entries] of Object.entries(order.chains)) {
    if (!Array.isArray(entries)) continue;
    chains[chain] = entries.map((entry: unknown, index): unknown => {
      const name = typeof entry === 'string' ? entry : isRecord(entry) ? entry.processor : undefined;
      const known = typeof name === 'string' ? processorNamed(name) : undefined;
      if (known === undefined) return entry;
      if (known.name === 'DigestHistory' && !(isRecord(entry) && entry.enabled === false))
        warc.digestHistory ??= true;
      if (!isRecord(entry) || !isRecord(entry.settings)) return entry;
      for (const [key, value] of Object.entries(entry.settings)) {
        const path = ['chains', chain, index, 'settings', key];
        const isSetting = listOf(known.settings).includes(key);
        const target = isSetting ? settings : warc;
        const section = isSetting ? 'settings' : 'warc';
        if (!isSetting && !listOf(known.warc).includes(key))
          problems.push({ path, problem: unknownSetting(known, key) });
        else if (key in target) problems.push({ path, problem: `${section}.${key} is given, too` });
        else {
          target[key] = value;
          origins.set(`${section}.${key}`, path);
        }
      }
      return { ...entry, settings: {} };
    });
  }
  return { order: { ...order, chains, settings, warc }, origins, problems };
}

function listOf(names: readonly string[] = []): readonly string[] {
  return names;
}

function unknownSetting({ name, settings = [], warc = [] }: ProcessorDescriptor, key: string): string {
  const known = [...settings, ...warc];
  return known.length === 0
    ? `${name} has no settings`
    : `${name} has no setting ${key}; it has ${known.join(', ')}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
