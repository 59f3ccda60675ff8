// The rows of the table of settings in the specification, from the schemas of an order.
import { describeSettings } from '../../../servers/crawler/order/describe.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { quotasSchema } from '../../../servers/crawler/order/quotas.js';
import { settingNotes } from '../../../servers/crawler/order/setting-notes.js';
import { crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import { warcSchema } from '../../../servers/crawler/order/warc.js';

const SHAPES = [
  ['', crawlOrderSchema.shape],
  ['settings.', crawlSettingsSchema.shape],
  ['settings.quotas.', quotasSchema.shape],
  ['warc.', warcSchema.shape],
] as const;

/** Returns the name in an order of 1.x by the path of a setting. */
function originalNames(): ReadonlyMap<string, string> {
  const names = SHAPES.flatMap(([prefix, shape]) =>
    Object.entries(shape).map(
      ([name, schema]) => [prefix + name, settingNotes.get(schema)?.original ?? ''] as const,
    ),
  );
  return new Map(names);
}

/** Returns path, default, name in 1.x and rules of each setting. */
export function settingRows(): string[][] {
  const originals = originalNames();
  return describeSettings().map(({ path, default: value, rule }) => {
    const original = originals.get(path) ?? '';
    return [
      `\`${path}\``,
      value === undefined ? '' : `\`${JSON.stringify(value)}\``,
      original === '' ? '' : `\`${original}\``,
      rule,
    ];
  });
}
