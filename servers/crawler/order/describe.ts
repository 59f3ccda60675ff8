import { z } from 'zod';
import { CHAIN_NAMES } from '../chains.js';
import { PROCESSORS } from '../processors/table.js';
import { browserSchema } from './browser.js';
import { actionsSchema, consoleSchema, crawlOrderSchema, mapperSchema } from './order.js';
import { quotasSchema } from './quotas.js';
import { settingNotes } from './setting-notes.js';
import { crawlSettingsSchema } from './settings.js';
import { warcSchema } from './warc.js';

/** The description of a setting of an order. */
export interface SettingDescription {
  /** E.g. `settings.minDelayMs`. */
  readonly path: string;
  /** Absent if the setting is required. */
  readonly default?: unknown | undefined;
  readonly unit: string;
  /** The legal values in words. */
  readonly legal: string;
  /** The rule that defines it. */
  readonly rule: string;
  readonly text: string;
  /** CRAWL-19.5: whether a sheet may override it. */
  readonly overridable: boolean;
}

/** Describes every setting of an order, from the schemas. */
export function describeSettings(): SettingDescription[] {
  return [
    ...describeShape('', crawlOrderSchema.shape),
    ...Object.entries(SECTIONS).flatMap(([path, { shape }]) =>
      shape === undefined ? [] : describeShape(`${path}.`, shape),
    ),
  ];
}

/** Formats the settings as a table in plain text, each with its description on the next line. */
export function settingsTable(descriptions: readonly SettingDescription[] = describeSettings()): string {
  const rows = descriptions.map(({ path, default: value, unit, legal, rule }) => [
    path,
    value === undefined ? '-' : JSON.stringify(value),
    unit,
    legal,
    rule,
  ]);
  const all = [['SETTING', 'DEFAULT', 'UNIT', 'LEGAL VALUES', 'RULE'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const lines = all.map(line);
  const texts = ['', ...descriptions.map(({ text }) => `    ${text}.`)];
  return `${lines.flatMap((text, i) => (i === 0 ? [text] : [text, texts[i] ?? ''])).join('\n')}\n`;
}

/**
 * Returns the default order with comments that explain all settings, as a template that `readOrder` accepts.
 */
export function defaultOrderText(): string {
  const lines = ['// A crawl order. Everything is optional; the values are the defaults.', '{'];
  writeMembers(lines, '', crawlOrderSchema.shape, '  ');
  lines.push('}', '');
  return lines.join('\n');
}

interface Section {
  readonly head: string;
  readonly shape?: z.core.$ZodShape;
  /** Its value in the default order if it has no shape. Default `[]`. */
  readonly empty?: string;
}

const SECTIONS: Readonly<Record<string, Section>> = {
  actions: { head: 'The action directory', shape: actionsSchema.shape },
  mapper: { head: 'Several crawlers that divide the web among themselves', shape: mapperSchema.shape },
  warc: { head: 'WARC files', shape: warcSchema.shape },
  browser: { head: 'The browser of settings.fetcher', shape: browserSchema.shape },
  console: { head: 'The console; absent: no console', shape: consoleSchema.shape },
  settings: { head: 'Settings, which sheets can override', shape: crawlSettingsSchema.shape },
  'settings.quotas': { head: 'Quotas', shape: quotasSchema.shape },
  chains: { head: chainsText(), empty: '{}' },
  sheets: {
    head:
      'Overrides of the settings for some URIs: { "name": "...", "surts": ["example.org"], "rules": [], "settings": { ... } };\n' +
      'longer SURT prefixes win over shorter ones, rules over prefixes',
  },
};

/** Explains the chains, with the processors of the default ones (CRAWL-11.2). */
function chainsText(): string {
  const width = Math.max(...PROCESSORS.map(({ name }) => name.length)) + 3;
  return [
    'The processors of each chain, in order (CRAWL-11). An absent chain is the default one, as below. An entry is a name, or',
    '{ "processor": "RuntimeLimit", "settings": { "runtimeSeconds": 60 }, "rules": [], "enabled": true }, or an own processor:',
    '{ "module": "./sizes.js", "name": "Sizes", "settings": { }, "rules": [], "timeoutSeconds": 60 }. Own processors of the chain extract',
    'that read the body stand before Essence.',
    ...CHAIN_NAMES.flatMap((chain) => [
      `"${chain}": [`,
      ...PROCESSORS.filter((processor) => processor.chain === chain).map((processor) => {
        const { name, text, rule, required, settings = [], warc = [] } = processor;
        const notes = [
          ...(required === true ? ['necessary'] : []),
          ...(processor.with === undefined ? [] : [`with ${processor.with}`]),
          rule,
        ];
        const own = [...settings, ...warc];
        const list = own.length === 0 ? '' : `; settings: ${own.join(', ')}`;
        return `  ${`"${name}",`.padEnd(width)} ${text} (${notes.join('; ')})${list}`;
      }),
      ']',
    ]),
  ].join('\n');
}

function writeMembers(lines: string[], prefix: string, shape: z.core.$ZodShape, indent: string): void {
  for (const [name, schema] of Object.entries(shape)) {
    const section = SECTIONS[prefix + name];
    if (section === undefined) {
      const { text, unit, legal, rule, default: value } = describe(prefix + name, schema);
      lines.push(`${indent}// ${text} (${[legal, unit].filter(Boolean).join(', ')}; ${rule})`);
      lines.push(`${indent}${JSON.stringify(name)}: ${JSON.stringify(value ?? 0)},`);
      continue;
    }
    lines.push('', ...section.head.split('\n').map((line) => `${indent}// ${line}`));
    if (section.shape === undefined) {
      lines.push(`${indent}${JSON.stringify(name)}: ${section.empty ?? '[]'},`);
      continue;
    }
    const inner: string[] = [];
    writeMembers(inner, `${prefix}${name}.`, section.shape, `${indent}  `);
    const block = [`${indent}${JSON.stringify(name)}: {`, ...inner, `${indent}},`];
    // An optional section is written as a comment.
    const optional = schema instanceof z.ZodOptional;
    lines.push(...(optional ? block.map((line) => `${indent}// ${line.slice(indent.length)}`) : block));
  }
}

function describeShape(prefix: string, shape: z.core.$ZodShape): SettingDescription[] {
  return Object.entries(shape).flatMap(([name, schema]) =>
    SECTIONS[prefix + name] === undefined ? [describe(prefix + name, schema)] : [],
  );
}

/** The fields of a JSON schema that the description uses. */
const jsonSchemaFields = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
  default: z.unknown().optional(),
});

function describe(path: string, schema: z.core.$ZodType): SettingDescription {
  const form = jsonSchemaFields.parse(z.toJSONSchema(schema, { io: 'input' }));
  const { text = '', unit = '', rule = '' } = settingNotes.get(schema) ?? {};
  return {
    path,
    default: form.default,
    unit,
    legal: legalValues(form),
    rule,
    text,
    overridable: path.startsWith('settings.'),
  };
}

function legalValues(form: z.output<typeof jsonSchemaFields>): string {
  if (form.enum !== undefined) return form.enum.join(' | ');
  switch (form.type) {
    case 'boolean':
      return 'true | false';
    case 'integer':
    case 'number':
      return rangeOf(form);
    case 'object':
      return 'names and values';
    case 'array':
      return 'a list';
    default:
      return form.pattern === undefined ? 'text' : `text that matches ${form.pattern}`;
  }
}

function rangeOf({ type, minimum, maximum }: z.output<typeof jsonSchemaFields>): string {
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  // Zod writes the largest exact integer for an unlimited one.
  const limit = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum !== undefined && limit !== undefined) return `${kind} from ${minimum} to ${limit}`;
  return minimum === undefined ? kind : `${kind} of at least ${minimum}`;
}
