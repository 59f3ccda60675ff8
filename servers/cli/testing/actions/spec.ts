import {
  allRules,
  type BookedRule,
  type CaseDescription,
  loadSuite,
  rulesNamed,
  suiteNames,
} from '../../../../clients/conformance/index.js';
import { UsageError } from '../../../../protocols/errors.js';
import {
  type Basis,
  basisOf,
  type RuleLevel,
  sentenceOf,
  withoutLinks,
} from '../../../../protocols/specification/index.js';
import { EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';

interface SpecOptions {
  readonly list: boolean;
  readonly json: boolean;
  readonly level?: RuleLevel;
  readonly basis?: Basis;
}

/** A case that judges a rule. */
interface CitingCase extends CaseDescription {
  readonly suite: string;
}

/** What the document calls a basis, as a reader of the terminal understands it. */
const BASIS_NAMES: Readonly<Record<Basis, string>> = {
  seed: 'seed document',
  manual: 'manual',
  client: 'deployed client',
  inferred: 'inferred',
  choice: 'choice of this project',
};

/** The action of `harvest spec`. */
export async function printRules(names: readonly string[], options: SpecOptions): Promise<number> {
  if (names.length === 0 && !options.list)
    throw new UsageError('RULE is required, e.g. SOIF-2.3; --list lists the rules');
  const named = names.length === 0 ? await allRules() : (await Promise.all(names.map(rulesNamed))).flat();
  const rules = named.filter(
    (rule) =>
      (options.level === undefined || rule.level === options.level) &&
      (options.basis === undefined || rule.evidence.some(({ basis }) => basis === options.basis)),
  );
  const cases = options.list && !options.json ? [] : await allCases();
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES });
  let isFirst = true;
  for (const rule of rules) {
    const citing = cases.filter((one) => one.rules.includes(rule.id));
    if (options.json) await output.write(`${JSON.stringify(jsonOf(rule, citing))}\n`);
    else if (options.list) await output.write(lineOf(rule));
    else await output.write(`${isFirst ? '' : '\n'}${pageOf(rule, citing)}`);
    isFirst = false;
  }
  return rules.length > 0 ? EXIT.ok : EXIT.failure;
}

async function allCases(): Promise<CitingCase[]> {
  const suites = await Promise.all((await suiteNames()).map(loadSuite));
  return suites.flatMap(({ name, cases }) => cases.map((one) => ({ ...one, suite: name })));
}

function lineOf(rule: BookedRule): string {
  return `${rule.id}  ${rule.level}  ${basisOf(rule)}\n    ${sentenceOf(rule)}\n`;
}

function pageOf(rule: BookedRule, cases: readonly CitingCase[]): string {
  const { id, level, evidence, text, document, section, line } = rule;
  const sources = evidence.map(({ basis, source }) => `  ${BASIS_NAMES[basis]}: ${source}\n`);
  const judged = cases.map((one) => `  ${one.suite} ${one.id}: ${one.title} (${one.level})\n`);
  return [
    `${id} ${level}\n\n${withoutLinks(text)}\n\nRests on:\n${sources.join('')}`,
    judged.length === 0 ? '' : `\nCases of harvest conformance:\n${judged.join('')}`,
    `\n${document}, line ${line}: ${section}\n`,
  ].join('');
}

function jsonOf(rule: BookedRule, cases: readonly CitingCase[]) {
  return {
    ...rule,
    basis: basisOf(rule),
    sentence: sentenceOf(rule),
    cases: cases.map(({ suite, id, title, level }) => ({ suite, id, title, level })),
  };
}
