import { ConfigError } from '../../../protocols/errors.js';
import type { CrawlOrderConfig } from './order.js';
import {
  BUILT_IN_CLASSES,
  COST_CLASSES,
  IGNORED_NAMES,
  MODULE_SETTINGS,
  ORDER_NAMES,
  QUEUE_CLASSES,
  QUOTA_NAMES,
  RUNTIME_OPERATIONS,
  SEEN_CLASSES,
  SEEN_RULE_CLASSES,
  SETTING_NAMES,
} from './original-names.js';
import { originalScope } from './original-scope.js';
import { validateOrder } from './read-order.js';
import { parseXml, type XmlElement } from './xml-tree.js';

/** A part of the file that was not converted. */
interface OrderWarning {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Overrides of a host or domain (CRAWL-19.4): the text of its `settings.xml`. */
export interface HostSettings {
  /** `example.org`; the overrides apply to all hosts below it too. */
  readonly host: string;
  readonly text: string;
  readonly file: string;
}

export interface OrderFromXml {
  readonly order: CrawlOrderConfig;
  /** CRAWL-10.1.5: path of the seed file, relative to the order; '' if the order has none. The caller adds its seeds to the order. */
  readonly seedsFile: string;
  /** Parts without an equivalent in this project. */
  readonly warnings: readonly OrderWarning[];
}

/**
 * Converts an order of the 1.x line (CRAWL-19.2): frontier, limits, headers, robots policy, scope, rules of the seen test, quotas. Absent
 * settings have this project's defaults.
 *
 * @param overrides CRAWL-19.4: converted to sheets by SURT prefix, so that the longer domain wins
 * @throws ConfigError when it is not an order, or a value is not legal
 */
export function readOrderXml(
  text: string,
  file: string,
  overrides: readonly HostSettings[] = [],
): OrderFromXml {
  const root = rootOf(text, file, 'crawl-order');
  const draft = new Draft(file);
  const order: Values = {};
  const name = childOf(childOf(root, 'meta'), 'name');
  if (name !== undefined && name.text !== '') draft.put(order, [], 'name', name.text, name);
  const controller = childOf(root, 'controller');
  if (controller === undefined) throw new ConfigError(file, root.line, 'controller', 'it is missing');
  const settings: Values = {};
  draft.modules(controller, { order, settings, path: ['settings'] });
  const sheets = overrides.map((override, index) => {
    const sheet = new Draft(override.file);
    const values: Values = {};
    sheet.modules(rootOf(override.text, override.file, 'crawl-settings'), {
      settings: values,
      path: ['sheets', index, 'settings'],
    });
    return { draft: sheet, input: sheetOf(override.host, values) };
  });
  const value = { ...order, settings, sheets: sheets.map(({ input }) => input) };
  const draftOf = (path: readonly PropertyKey[]): Draft =>
    (path[0] === 'sheets' ? sheets[Number(path[1])]?.draft : undefined) ?? draft;
  return {
    order: validateOrder(value, file, (path) => draftOf(path).lineOf(path)),
    seedsFile: draft.seedsFile,
    warnings: [draft, ...sheets.map((sheet) => sheet.draft)].flatMap(({ warnings }) => warnings),
  };
}

/**
 * CRAWL-19.4: returns the host of a file of overrides, whose directories are the labels of the host from the right, as in
 * `org/example/www/settings.xml`; undefined for other files.
 * @param path relative to the settings directory, with `/`
 */
export function hostOfSettingsFile(path: string): string | undefined {
  const labels = path.split('/').filter((label) => label !== '' && label !== '.');
  return labels.pop() === 'settings.xml' && labels.length > 0 ? labels.reverse().join('.') : undefined;
}

type Values = Record<string, unknown>;

/** CRAWL-19.4: a sheet for a domain and all schemes that a crawl fetches. */
function sheetOf(host: string, settings: Values): object {
  return { name: host, surts: [host, `ftp://${host}`], settings };
}

interface Target {
  /** Absent if only settings that can be overridden are converted (CRAWL-19.5). */
  readonly order?: Values;
  readonly settings: Values;
  /** Path of the settings in the order. */
  readonly path: readonly (string | number)[];
}

/** The conversion of one file. */
class Draft {
  readonly warnings: OrderWarning[] = [];
  seedsFile = '';
  readonly #lines = new Map<string, number>();

  constructor(readonly file: string) {}

  lineOf(path: readonly PropertyKey[]): number {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lines.get(path.slice(0, length).map(String).join('.'));
      if (line !== undefined) return line;
    }
    return 0;
  }

  put(
    values: Values,
    path: readonly (string | number)[],
    name: string,
    value: unknown,
    { line }: XmlElement,
  ): void {
    values[name] = value;
    this.#lines.set([...path, name].join('.'), line);
  }

  /** Converts everything below a controller or the settings of a host. */
  modules(parent: XmlElement, target: Target): void {
    for (const element of parent.children) {
      if (element.name === 'scope' && target.order !== undefined) this.#scope(element, target.order);
      else if (element.name === 'uri-canonicalization-rules') this.#seenRules(element, target);
      else if (element.name === 'robots-honoring-policy') this.#robots(element, target);
      else if (isModule(element)) this.#module(element, target);
      else this.#value(element, target);
    }
  }

  #module(element: XmlElement, target: Target): void {
    // A disabled module has no effect.
    if (childOf(element, 'enabled')?.text === 'false') return;
    if (element.tag === 'newObject' && !BUILT_IN_CLASSES.has(element.className)) {
      if (!IGNORED_NAMES.has(element.name.replace(/^.*#/, '')))
        this.#warn(element, `the module ${element.name} (${element.className}) has no equivalent here`);
      return;
    }
    for (const [name, value] of Object.entries(MODULE_SETTINGS.get(element.className) ?? {}))
      this.put(target.settings, target.path, name, value, element);
    this.modules(element, target);
  }

  #value(element: XmlElement, target: Target): void {
    const { name, text } = element;
    if (IGNORED_NAMES.has(name)) return;
    const setting = SETTING_NAMES.get(name);
    const quota = QUOTA_NAMES.get(name);
    const order = ORDER_NAMES.get(name);
    const { settings, path } = target;
    if (setting !== undefined) {
      this.put(settings, path, setting, typedValue(element), element);
    } else if (quota !== undefined) {
      const quotas: Values = { ...(settings.quotas as Values | undefined) };
      settings.quotas = quotas;
      this.put(quotas, [...path, 'quotas'], quota, typedValue(element), element);
    } else if (name === 'queue-assignment-policy') {
      this.#byClass(element, QUEUE_CLASSES, (value) =>
        this.put(settings, path, 'queueAssignment', value, element),
      );
    } else if (name === 'cost-policy') {
      this.#byClass(element, COST_CLASSES, (value) => this.put(settings, path, 'costPolicy', value, element));
    } else if (name === 'end-operation') {
      this.put(settings, path, 'runtimeOperation', RUNTIME_OPERATIONS.get(text) ?? text, element);
    } else if (target.order === undefined) {
      if (order !== undefined) this.#warn(element, `${name} cannot be overridden (CRAWL-19.5)`);
      else this.#unknown(element);
    } else if (order !== undefined) {
      this.put(target.order, [], order, typedValue(element), element);
    } else if (name === 'uri-included-structure') {
      const { order: values } = target;
      this.#byClass(element, SEEN_CLASSES, (value) => this.put(values, [], 'seen', value, element));
    } else if (text !== '') {
      this.#unknown(element);
    }
  }

  /** CRAWL-13.4. */
  #robots(element: XmlElement, target: Target): void {
    for (const child of element.children) {
      if (child.name === 'type') this.put(target.settings, target.path, 'robotsPolicy', child.text, child);
      else this.#value(child, target);
    }
  }

  #scope(element: XmlElement, order: Values): void {
    this.seedsFile = childOf(element, 'seedsfile')?.text ?? '';
    const scope = originalScope(element, (source, problem) => this.#warn(source, problem));
    if (scope === undefined) this.#warn(element, `the scope ${element.className} is unknown and left out`);
    else this.put(order, [], 'scope', scope, element);
  }

  /** CRAWL-14.1: the enabled rules in their order. */
  #seenRules(element: XmlElement, { settings, path }: Target): void {
    const names = element.children.flatMap((rule) => {
      if (childOf(rule, 'enabled')?.text === 'false') return [];
      const name = SEEN_RULE_CLASSES.get(rule.className);
      if (name === undefined) this.#warn(rule, `the rule ${rule.className} of the seen test is left out`);
      return name ?? [];
    });
    if (names.length > 0) this.put(settings, path, 'seenRules', names, element);
  }

  #byClass<T>(element: XmlElement, classes: ReadonlyMap<string, T>, found: (value: T) => void): void {
    const value = classes.get(element.text.replace(/^.*[.$]/, ''));
    if (value === undefined) this.#warn(element, `${element.name}: ${element.text} is unknown`);
    else found(value);
  }

  #unknown(element: XmlElement): void {
    this.#warn(element, `${element.name} has no equivalent here`);
  }

  #warn({ line }: XmlElement, text: string): void {
    this.warnings.push({ file: this.file, line, text });
  }
}

/** Whether an element is a module or a map of modules. A list of texts is a value. */
function isModule({ tag, name, children }: XmlElement): boolean {
  return tag === 'newObject' || (children.length > 0 && !SETTING_NAMES.has(name));
}

/** CRAWL-19.3: converts a value to the type of its element. A value that is not of the type stays text, which the schema refuses. */
function typedValue({ tag, text, children }: XmlElement): unknown {
  switch (tag) {
    case 'integer':
    case 'long':
    case 'float':
    case 'double':
      return text === '' || Number.isNaN(Number(text)) ? text : Number(text);
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'stringList':
      return children.map((child) => child.text);
    default:
      return text;
  }
}

function rootOf(text: string, file: string, tag: string): XmlElement {
  const root = parseXml(text, file);
  if (root.tag !== tag) throw new ConfigError(file, root.line, root.tag, `the root element must be ${tag}`);
  return root;
}

function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name);
}
