import { readFile } from 'node:fs/promises';
import { messageOf, UsageError } from '../../../../protocols/errors.js';
import { chainSteps } from '../../../crawler/order/chain-config.js';
import { defaultOrderText, describeSettings, settingsTable } from '../../../crawler/order/describe.js';
import type { CrawlOrderConfig } from '../../../crawler/order/order.js';
import { readOrderText } from '../../../crawler/order/read-order-file.js';
import type { CrawlSettings } from '../../../crawler/order/settings.js';
import { type AppliedSheet, SheetOverlays } from '../../../crawler/order/sheets.js';
import { importProcessor } from '../../../crawler/processors/user-processor.js';
import { EXIT } from '../../output/exit.js';
import { printable, writeMessage } from '../../output/printable.js';
import { printResult, StandardOutput } from '../../output/standard-output.js';

interface SettingsOptions {
  readonly order: string;
  readonly via?: string;
  readonly hops: string;
  readonly all: boolean;
  readonly json: boolean;
}

/** The action of `harvest crawl order`; returns the exit status. */
export async function printOrder({
  check,
  table,
  json,
}: {
  readonly check?: string;
  readonly table?: true;
  readonly json: boolean;
}): Promise<number> {
  const output = new StandardOutput();
  if (check !== undefined) {
    const read = await readOrderFile(check);
    for (const step of Object.values(chainSteps(read)).flat())
      if (step.entry.module !== undefined) await importProcessor(step);
    const { name, sheets, scope } = read;
    const text = `${check}: the order ${printable(name)} is valid; ${sheets.length} sheets, ${scope.length} rules of scope\n`;
    await printResult({ json }, read, text);
  } else if (table === true) {
    await output.write(
      json
        ? describeSettings()
            .map((setting) => `${JSON.stringify(setting)}\n`)
            .join('')
        : settingsTable(),
    );
  } else await output.write(defaultOrderText());
  return EXIT.ok;
}

/** The action of `harvest crawl settings`; returns the exit status. */
export async function printSettings(url: string, options: SettingsOptions): Promise<number> {
  const { via, hops, all, json } = options;
  const read = await readOrderFile(options.order);
  const overlays = SheetOverlays.of(read);
  const subject = { uri: url, hops, seed: hops === '', via };
  const sheets = overlays.explain(subject);
  const found = overlays.settingsFor(subject);
  const lines = [...sheetLines(sheets), ...settingLines(read.settings, found, all), ''];
  await printResult({ json }, { url, sheets, settings: found }, lines.join('\n'));
  return EXIT.ok;
}

function sheetLines(sheets: readonly AppliedSheet[]): string[] {
  if (sheets.length === 0) return ['No sheet applies: the settings are those of the order.'];
  return sheets.map(({ sheet, because }) =>
    printable(
      'surt' in because
        ? `sheet ${sheet}, because of the prefix ${because.surt}`
        : `sheet ${sheet}, because of its rule ${because.ruleNumber}, ${because.rule}`,
    ),
  );
}

function settingLines(base: CrawlSettings, found: CrawlSettings, all: boolean): string[] {
  const before = new Map<string, unknown>(Object.entries(base));
  return Object.entries(found).flatMap(([name, value]) => {
    const text = JSON.stringify(value);
    const changed = JSON.stringify(before.get(name)) !== text;
    return changed || all ? [printable(`${changed ? '*' : ' '} ${name}: ${text}`)] : [];
  });
}

/** Reads an order, JSON or order.xml, and prints the warnings. */
async function readOrderFile(file: string): Promise<CrawlOrderConfig> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`crawl: ${file} cannot be read: ${messageOf(cause)}`);
  });
  const { order, warnings } = await readOrderText(text, file);
  for (const { message } of warnings) writeMessage(`warning: ${message}`);
  return order;
}
