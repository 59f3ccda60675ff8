import { ConfigError } from '../errors.js';
import { type LineRule, parseLineRules } from './line-rules.js';

/** BRK-9.6: the definitions that are text with variables, in the order of a page (BRK-9.8). */
const BROKER_QUERY_TEMPLATES = [
  'ResultHeader',
  'ResultSetBegin',
  'PrintObject',
  'ResultSetEnd',
  'TruncateWarning',
  'EndBrokerResults',
  'FailBrokerResults',
  'BrokerDown',
  'ResultTrailer',
] as const;
export type BrokerQueryTemplate = (typeof BROKER_QUERY_TEMPLATES)[number];

/** Where in the HTML of a definition a variable stands; what has to be escaped depends on it. */
type TemplateContext = 'text' | 'quoted' | 'unquoted';

/** A piece of a definition. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'variable';
      readonly name: string;
      /** As it is written, `$name` or `${name}`: what a name that means nothing stands for. */
      readonly source: string;
      readonly context: TemplateContext;
      /** The variable begins the value of an attribute, such as `HREF="$url"`. */
      readonly beginsValue: boolean;
    };

/** `ObjectNumPrintf`: what stands around the number, its least width and how that is filled. */
export interface NumberFormat {
  readonly before: string;
  readonly after: string;
  readonly width: number;
  readonly fill: 'right' | 'left' | 'zeros';
}

/** What a `BrokerQuery.cf` defines; a custom file lays its own over the default's (BRK-9.5). */
export interface BrokerQueryConfig {
  readonly templates: Partial<Readonly<Record<BrokerQueryTemplate, readonly TemplatePart[]>>>;
  /** `Timeout`: seconds to wait for the Broker. */
  readonly timeout?: number;
  /** `HarvestUrl`: home page of Harvest (BRK-9.11). */
  readonly harvestUrl?: string;
  readonly objectNumber?: NumberFormat;
  /** `MatchedLineSub`: rules for each matched line, already HTML (BRK-9.9). */
  readonly lineRules?: readonly LineRule[];
}

/** Definitions that hold program text, which is never run (BRK-9.9). */
const PROGRAMS = new Set(['InitFunction', 'PerObjectFunction']);

/** Longest number of a `Timeout`, seconds. */
const MAX_TIMEOUT = 3600;

/** Largest width of an `ObjectNumPrintf`. */
const MAX_WIDTH = 40;

/**
 * Reads a `BrokerQuery.cf` (BRK-9.5, 9.6). Only text is taken from it, never program text (BRK-9.9). Nothing in it is
 * fatal: what cannot be used is left out and reported, in file order; a later definition of a name holds.
 */
export function parseBrokerQueryCf(
  text: string,
  file: string,
): { readonly config: BrokerQueryConfig; readonly warnings: readonly ConfigError[] } {
  const warnings: ConfigError[] = [];
  let config: BrokerQueryConfig = { templates: {} };
  for (const { name, body, line } of definitionsOf(text, file, warnings)) {
    const warn = (problem: string, below = 0) =>
      warnings.push(new ConfigError(file, line + below, name, problem));
    config = { ...config, ...readDefinition(name, body, config, warn) };
  }
  // The file was cut into definitions before these were read.
  return { config, warnings: warnings.sort((a, b) => a.line - b.line) };
}

/** BRK-9.5: a custom file's definitions replace the default's one by one. */
export function mergeBrokerQueryConfig(
  base: BrokerQueryConfig,
  custom: BrokerQueryConfig,
): BrokerQueryConfig {
  return { ...base, ...custom, templates: { ...base.templates, ...custom.templates } };
}

/** Whether a definition shows a variable. */
export function usesVariable(parts: readonly TemplatePart[] | undefined, name: string): boolean {
  return parts?.some((part) => part.kind === 'variable' && part.name === name) ?? false;
}

/** The number as `ObjectNumPrintf` writes it. */
export function formatNumber(value: number, format: NumberFormat | undefined): string {
  if (format === undefined) return String(value);
  const digits = String(value);
  const { width, fill } = format;
  const padded =
    fill === 'left'
      ? digits.padEnd(width)
      : fill === 'zeros'
        ? digits.padStart(width, '0')
        : digits.padStart(width);
  return `${format.before}${padded}${format.after}`;
}

interface Definition {
  readonly name: string;
  readonly body: string;
  /** Line of its `<Name>`, 1-based. */
  readonly line: number;
}

/** The definitions between `<Name>` and `</Name>` lines, their last newline dropped (BRK-9.5). */
function definitionsOf(text: string, file: string, warnings: ConfigError[]): Definition[] {
  const found: Definition[] = [];
  const lines = text.replace(/^\ufeff/, '').split('\n');
  for (let at = 0; at < lines.length; at++) {
    const content = (lines[at] ?? '').trim();
    if (content === '' || content.startsWith('#')) continue;
    const name = /^<([A-Za-z]\w*)>$/.exec(content)?.[1];
    if (name === undefined) {
      warnings.push(new ConfigError(file, at + 1, '', 'skipped: not within a definition'));
      continue;
    }
    const end = lines.findIndex((line, i) => i > at && line.trim() === `</${name}>`);
    if (end < 0) {
      warnings.push(new ConfigError(file, at + 1, name, `skipped: there is no </${name}>`));
      continue;
    }
    const body = lines.slice(at + 1, end).map((line) => line.replace(/\r$/, ''));
    found.push({ name, body: body.join('\n'), line: at + 1 });
    at = end;
  }
  return found;
}

type Warn = (problem: string, below?: number) => void;

function readDefinition(
  name: string,
  body: string,
  config: BrokerQueryConfig,
  warn: Warn,
): Partial<BrokerQueryConfig> {
  const template = BROKER_QUERY_TEMPLATES.find((known) => known === name);
  if (template !== undefined) return { templates: { ...config.templates, [template]: parseTemplate(body) } };
  switch (name) {
    case 'Timeout': {
      const seconds = /^\s*(\d{1,4})\s*$/.exec(body)?.[1];
      if (seconds !== undefined && Number(seconds) >= 1 && Number(seconds) <= MAX_TIMEOUT)
        return { timeout: Number(seconds) };
      warn(`must be a number of seconds from 1 to ${MAX_TIMEOUT}`);
      return {};
    }
    case 'HarvestUrl':
      return { harvestUrl: body.trim() };
    case 'ObjectNumPrintf': {
      const objectNumber = parseNumberFormat(body);
      if (objectNumber !== undefined) return { objectNumber };
      warn(`must hold one number as printf writes it, such as %3d, at most ${MAX_WIDTH} wide`);
      return {};
    }
    case 'MatchedLineSub': {
      const { rules, problem, line } = parseLineRules(body);
      if (problem !== undefined) warn(problem, line);
      return { lineRules: rules };
    }
    default:
      warn(PROGRAMS.has(name) ? 'not used: it is program text, which is never run' : 'unknown definition');
      return {};
  }
}

function parseNumberFormat(body: string): NumberFormat | undefined {
  const match = /^((?:[^%]|%%)*)%([-0 ]?)(\d{0,2})[du]((?:[^%]|%%)*)$/s.exec(body);
  if (match === null) return undefined;
  const [, before = '', flag, digits = '', after = ''] = match;
  const width = Number(digits);
  if (width > MAX_WIDTH) return undefined;
  const fill = flag === '-' ? 'left' : flag === '0' ? 'zeros' : 'right';
  return { before: before.replaceAll('%%', '%'), after: after.replaceAll('%%', '%'), width, fill };
}

/** A definition cut at its variables: `$name` and `${name}`; `\$` is a dollar sign. */
function parseTemplate(body: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let place: Place = { inTag: false, quote: '' };
  let text = '';
  const flush = () => {
    if (text !== '') parts.push({ kind: 'text', text });
    text = '';
  };
  for (const [token] of body.matchAll(/\\\$|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|[\s\S]/g)) {
    if (token.length === 1 || token === '\\$') {
      const plain = token === '\\$' ? '$' : token;
      place = step(place, plain);
      text += plain;
      continue;
    }
    const before = text;
    flush();
    const context = !place.inTag ? 'text' : place.quote === '' ? 'unquoted' : 'quoted';
    const name = token.replace(/[${}]/g, '');
    const beginsValue = place.inTag && /=\s*["']?$/.test(before);
    parts.push({ kind: 'variable', name, source: token, context, beginsValue });
  }
  flush();
  return parts;
}

/** Where a character of HTML stands: in a tag, and there in which quotes. */
interface Place {
  readonly inTag: boolean;
  readonly quote: string;
}

function step(place: Place, character: string): Place {
  if (!place.inTag) return character === '<' ? { inTag: true, quote: '' } : place;
  if (place.quote !== '') return character === place.quote ? { inTag: true, quote: '' } : place;
  if (character === '"' || character === "'") return { inTag: true, quote: character };
  return character === '>' ? { inTag: false, quote: '' } : place;
}
