import { ConfigError } from '../../../protocols/errors.js';
import type { RuleInput } from '../decide/rule-config.js';
import { Conversion, type OrderWarning, type Values } from './conversion.js';
import { type CrawlOrderConfig, crawlOrderSchema } from './order.js';
import { OriginalChains } from './original-chains.js';
import {
  BUILT_IN_CLASSES,
  COST_CLASSES,
  EXTRACTOR_CLASSES,
  LEFT_OUT_CLASSES,
  MODULE_SETTINGS,
  QUEUE_CLASSES,
  RUNTIME_OPERATIONS,
  SEEN_CLASSES,
  SEEN_RULE_CLASSES,
  WRITER_CLASSES,
} from './original-names.js';
import { originalRules, originalScope, type ScopeReport } from './original-scope.js';
import { quotasSchema } from './quotas.js';
import { validateOrder } from './read-order.js';
import { byOriginalName } from './setting-notes.js';
import { crawlSettingsSchema } from './settings.js';
import { warcSchema } from './warc.js';
import { headersOf, parseXml, typedValue, type XmlElement } from './xml-tree.js';

/** Settings of URIs, quotas, options of the crawl and of archives by their names in a 1.x order. */
const SETTING_NAMES = byOriginalName(crawlSettingsSchema.shape);
const QUOTA_NAMES = byOriginalName(quotasSchema.shape);
const ORDER_NAMES = byOriginalName(crawlOrderSchema.shape);
const WRITER_NAMES = byOriginalName(warcSchema.shape);

/** Overrides of a host or domain (CRAWL-19.4): the text of its `settings.xml`. */
export interface HostSettings {
  /** `example.org`; the overrides apply to all hosts below it too. */
  readonly host: string;
  readonly text: string;
  readonly file: string;
}

export interface OrderFromXml {
  readonly order: CrawlOrderConfig;
  /**
   * CRAWL-10.1.5: path of the seed file, relative to the order; '' if the order has none. The caller adds its
   * seeds to the order.
   */
  readonly seedsFile: string;
  /**
   * CRAWL-19.4: the directory of the overrides, relative to the order; '' if the order has none. The caller
   * reads them.
   */
  readonly settingsDirectory: string;
  /**
   * CRAWL-15.2: the files of SURT prefixes that the scope names, relative to the order. The caller reads them.
   */
  readonly prefixFiles: readonly string[];
  /** Returns the file and the line of a path in the order. */
  readonly placeOf: (path: readonly PropertyKey[]) => { readonly file: string; readonly line: number };
  /** What became of every element that was not converted, by line. */
  readonly warnings: readonly OrderWarning[];
}

/**
 * Converts an order of the 1.x line (CRAWL-19.2): frontier, limits, headers, robots policy, scope, rules of the
 * seen test, quotas. Absent settings have this project's defaults.
 *
 * @param prefixLines lines of `prefixFiles`; without them the prefixes are left out
 * @param overrides CRAWL-19.4: converted to sheets by SURT prefix, so that the longer domain wins
 * @throws ConfigError when it is not an order, or a value is not legal
 */
export function readOrderXml(
  text: string,
  file: string,
  overrides: readonly HostSettings[] = [],
  prefixLines: ReadonlyMap<string, readonly string[]> = new Map(),
): OrderFromXml {
  const root = rootOf(text, file, 'crawl-order');
  const draft = new Draft(file, prefixLines);
  const order: Values = {};
  const name = childOf(childOf(root, 'meta'), 'name');
  if (name !== undefined && name.text !== '') draft.put(order, [], 'name', name.text, name);
  const controller = childOf(root, 'controller');
  if (controller === undefined) throw new ConfigError(file, root.line, 'controller', 'it is missing');
  const settings: Values = {};
  draft.use(root, ...presentOf(childOf(root, 'meta')), ...presentOf(name), controller);
  const target = { order, settings, path: ['settings'] };
  draft.modules(controller, target);
  draft.limitEmbeds(target);
  draft.addChains(target);
  draft.reportRest(root);
  const sheets = overrides.map((override, index) => {
    const sheet = new Draft(override.file);
    const values: Values = {};
    const overrides = rootOf(override.text, override.file, 'crawl-settings');
    sheet.use(overrides);
    sheet.modules(overrides, { settings: values, path: ['sheets', index, 'settings'] });
    sheet.reportRest(overrides);
    return { draft: sheet, input: sheetOf(override.host, values) };
  });
  const value = { ...order, settings, sheets: sheets.map(({ input }) => input) };
  const draftOf = (path: readonly PropertyKey[]): Draft =>
    (path[0] === 'sheets' ? sheets[Number(path[1])]?.draft : undefined) ?? draft;
  return {
    order: validateOrder(value, file, (path) => draftOf(path).lineOf(path)),
    seedsFile: draft.seedsFile,
    settingsDirectory: draft.settingsDirectory,
    prefixFiles: [...draft.prefixFiles],
    placeOf: (path) => ({ file: draftOf(path).file, line: draftOf(path).lineOf(path) }),
    warnings: [draft, ...sheets.map((sheet) => sheet.draft)].flatMap(({ warnings }) => warnings),
  };
}

/**
 * CRAWL-19.4: returns the host of a file of overrides, whose directories are the labels of the host from the
 * right, as in `org/example/www/settings.xml`; undefined for other files.
 * @param path relative to the settings directory, with `/`
 */
export function hostOfSettingsFile(path: string): string | undefined {
  const labels = path.split('/').filter((label) => label !== '' && label !== '.');
  return labels.pop() === 'settings.xml' && labels.length > 0 ? labels.reverse().join('.') : undefined;
}

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
class Draft extends Conversion {
  readonly #prefixLines: ReadonlyMap<string, readonly string[]>;
  seedsFile = '';
  settingsDirectory = '';
  readonly prefixFiles = new Set<string>();
  readonly #chains = new OriginalChains();
  readonly #report: ScopeReport = {
    warn: (source, problem) => this.warn(source, problem),
    use: (source) => this.use(source),
    prefixes: (name) => {
      this.prefixFiles.add(name);
      return this.#prefixLines.get(name);
    },
  };

  constructor(file: string, prefixLines: ReadonlyMap<string, readonly string[]> = new Map()) {
    super(file);
    this.#prefixLines = prefixLines;
  }

  /** Converts everything below a controller or the settings of a host. */
  modules(parent: XmlElement, target: Target): void {
    this.#chains.addMap(parent.name);
    for (const element of parent.children) {
      if (this.isDone(element)) continue;
      if (element.name === 'scope' && target.order !== undefined) this.#scope(element, target.order);
      else if (element.name === 'uri-canonicalization-rules') this.#seenRules(element, target);
      else if (element.name === 'robots-honoring-policy') this.#robots(element, target);
      else if (element.name === 'extract-processors' && target.order !== undefined)
        this.#extractors(element, target);
      else if (isModule(element)) this.#module(element, target);
      else this.#value(element, target);
    }
  }

  #module(element: XmlElement, target: Target): void {
    const { name, className } = element;
    const enabled = childOf(element, 'enabled');
    if (enabled !== undefined) this.use(enabled);
    if (enabled?.text === 'false') {
      this.warn(element, `the module ${name} is disabled and left out`);
      return;
    }
    if (isGate(element) || isSequence(element)) {
      this.#dropRules(element);
      return;
    }
    if (element.tag === 'newObject' && !BUILT_IN_CLASSES.has(className)) {
      const reason = LEFT_OUT_CLASSES.get(className) ?? 'has no equivalent here';
      this.warn(element, `the module ${name} (${className}) ${reason}`);
      return;
    }
    this.use(element);
    if (target.order !== undefined) this.#chains.add(className, this.#gateOf(element));
    const path = WRITER_CLASSES.get(className);
    if (path !== undefined && target.order !== undefined) this.#writer(element, path, target.order);
    for (const [setting, value] of Object.entries(MODULE_SETTINGS.get(className) ?? {}))
      this.put(target.settings, target.path, setting, value, element);
    this.#proxy(element, target);
    this.modules(element, target);
  }

  /** The proxy of FetchHTTP, which is two elements; an empty host is no proxy. */
  #proxy(module: XmlElement, { settings, path }: Target): void {
    const host = childOf(module, 'http-proxy-host');
    const port = childOf(module, 'http-proxy-port');
    this.use(...presentOf(host), ...presentOf(port));
    if (host === undefined || host.text === '') return;
    this.put(settings, path, 'proxy', `http://${host.text}:${port?.text ?? ''}`, host);
  }

  /**
   * CRAWL-11.2: with extractors, what pages show is fetched where the scope accepts it, as the original does.
   */
  #extractors(chain: XmlElement, target: Target): void {
    const { settings, path } = target;
    const enabled = chain.children.filter(
      (module) => EXTRACTOR_CLASSES.has(module.className) && childOf(module, 'enabled')?.text !== 'false',
    );
    if (enabled.length === 0) {
      this.put(settings, path, 'maxOutlinks', 0, chain);
      this.warn(chain, 'no extractor is enabled: links are not followed (maxOutlinks 0)');
    } else {
      this.put(settings, path, 'embeds', 'any', chain);
      if (!enabled.some(({ className }) => className === 'ExtractorJS'))
        this.put(settings, path, 'maxSpeculativeHops', 0, chain);
    }
    this.use(chain);
    this.#chains.addMap(chain.name);
    for (const module of chain.children) {
      const isOff = childOf(module, 'enabled')?.text === 'false';
      if (isOff && enabled.length > 0 && EXTRACTOR_CLASSES.get(module.className) === 'always')
        this.warn(module, `the module ${module.name} is disabled, but embeds reads its references too`);
      else this.#module(module, target);
    }
  }

  /** CRAWL-10.2.3: the scope's limits of transclusion are those of the embeds. */
  limitEmbeds({ order, settings }: Target): void {
    if (settings.embeds !== 'any') return;
    const rules = (order?.scope ?? []) as readonly RuleInput[];
    const rule = rules.findLast(
      (candidate) => candidate.rule === 'transclusion' || candidate.rule === 'classic-transitive',
    );
    if (rule === undefined) return;
    if (rule.maxTransHops !== undefined) settings.maxTransHops = rule.maxTransHops;
    if ('maxSpeculativeHops' in rule) settings.maxSpeculativeHops ??= rule.maxSpeculativeHops;
  }

  /** CRAWL-11.1: returns the rules that decide which URIs a processor gets. */
  #gateOf({ className, children }: XmlElement): RuleInput[] {
    const gate = children.find(isGate);
    if (gate === undefined || !OriginalChains.hasGate(className)) return [];
    this.use(gate);
    return originalRules(gate, this.#report);
  }

  /** Rules that do not apply here. */
  #dropRules(element: XmlElement): void {
    const rules = childOf(element, 'rules');
    if (rules === undefined || rules.children.length === 0) this.use(element, ...presentOf(rules));
    else this.warn(element, `${element.name} is left out: its rules do not apply`);
  }

  /** CRAWL-11.2, 11.3: the writers of ARC and WARC files. */
  #writer(writer: XmlElement, defaultPath: string, order: Values): void {
    if (order.warc !== undefined) {
      this.warn(writer, `the module ${writer.name} is left out: there is another writer`);
      return;
    }
    const warc: Values = writer.className === 'ARCWriterProcessor' ? { format: 'arc' } : {};
    order.warc = warc;
    const path = childOf(writer, 'path');
    const [first] = path?.children ?? [];
    this.put(warc, ['warc'], 'directory', first?.text || path?.text || defaultPath, path ?? writer);
    if (first !== undefined) this.use(first);
    for (const child of writer.children) {
      const name = WRITER_NAMES.get(child.name);
      if (name !== undefined) this.put(warc, ['warc'], name, typedValue(child), child);
    }
  }

  /** CRAWL-11.2: adds the chains that differ from the default ones. */
  addChains({ order }: Target): void {
    const chains = this.#chains.chains();
    if (order !== undefined && Object.keys(chains).length > 0) order.chains = chains;
  }

  #value(element: XmlElement, target: Target): void {
    const { name, text } = element;
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
    } else if (name === 'ignore-cookies') {
      const ignored = typedValue(element);
      this.put(settings, path, 'cookies', typeof ignored === 'boolean' ? !ignored : ignored, element);
    } else if (name === 'accept-headers') {
      this.put(settings, path, 'requestHeaders', headersOf(element), element);
    } else if (name === 'end-operation') {
      this.put(settings, path, 'runtimeOperation', RUNTIME_OPERATIONS.get(text) ?? text, element);
    } else if (target.order === undefined) {
      if (order !== undefined) this.warn(element, `${name} cannot be overridden (CRAWL-19.5)`);
    } else if (order !== undefined) {
      this.put(target.order, [], order, typedValue(element), element);
    } else if (name === 'uri-included-structure') {
      const { order: values } = target;
      this.#byClass(element, SEEN_CLASSES, (value) => this.put(values, [], 'seen', value, element));
    } else if (name === 'settings-directory') {
      this.settingsDirectory = text;
      this.place(['settingsDirectory'], element);
      this.use(element);
    } else if (name === 'enabled') this.use(element);
  }

  /** CRAWL-13.4. */
  #robots(element: XmlElement, target: Target): void {
    this.use(element);
    for (const child of element.children) {
      if (child.name === 'type') this.put(target.settings, target.path, 'robotsPolicy', child.text, child);
      else this.#value(child, target);
    }
  }

  #scope(element: XmlElement, order: Values): void {
    const seedsFile = childOf(element, 'seedsfile');
    this.seedsFile = seedsFile?.text ?? '';
    this.use(...presentOf(seedsFile), ...presentOf(childOf(element, 'enabled')));
    const scope = originalScope(element, this.#report);
    if (scope === undefined) this.warn(element, `the scope ${element.className} is unknown and left out`);
    else this.put(order, [], 'scope', scope, element);
  }

  /** CRAWL-14.1: the enabled rules in their order. */
  #seenRules(element: XmlElement, { settings, path }: Target): void {
    const names = element.children.flatMap((rule) => {
      const enabled = childOf(rule, 'enabled');
      this.use(...presentOf(enabled));
      const name = SEEN_RULE_CLASSES.get(rule.className);
      if (enabled?.text === 'false')
        this.warn(rule, `the rule ${rule.name} of the seen test is disabled and left out`);
      else if (name === undefined)
        this.warn(rule, `the rule ${rule.className} of the seen test is unknown and left out`);
      else this.use(rule);
      return enabled?.text === 'false' ? [] : (name ?? []);
    });
    this.use(element);
    if (names.length === 0) return;
    settings.seenRules = names;
    this.place([...path, 'seenRules'], element);
  }

  #byClass<T>(element: XmlElement, classes: ReadonlyMap<string, T>, found: (value: T) => void): void {
    const value = classes.get(element.text.replace(/^.*[.$]/, ''));
    if (value === undefined) this.warn(element, `${element.name}: ${element.text} is unknown`);
    else found(value);
  }
}

/** Whether an element is a module or a map of modules. A list of texts is a value. */
function isModule({ tag, name, children }: XmlElement): boolean {
  return tag === 'newObject' || (tag !== 'stringList' && children.length > 0 && !SETTING_NAMES.has(name));
}

/** Whether an element has the decide rules of its processor (CRAWL-11.1). */
function isGate({ name }: XmlElement): boolean {
  return /(?:^|#)decide-rules$/.test(name);
}

/** Whether an element has any decide rules; most have none. */
function isSequence({ className }: XmlElement): boolean {
  return className === 'DecideRuleSequence';
}

function rootOf(text: string, file: string, tag: string): XmlElement {
  const root = parseXml(text, file);
  if (root.tag !== tag) throw new ConfigError(file, root.line, root.tag, `the root element must be ${tag}`);
  return root;
}

function presentOf<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name);
}
