import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectionError, messageOf, StorageError, UsageError } from '../../../../protocols/errors.js';
import { exists } from '../../../../storage/files/exists.js';
import { createDirectory } from '../../../../storage/files/make-directory.js';
import { replaceFile } from '../../../../storage/files/replace-file.js';
import type { Engine } from '../../../../storage/indexers/engine.js';
import { ENGINES, INDEXER_TYPES, type IndexerType } from '../../../../storage/indexers/open.js';
import { writeRunBroker } from '../../../broker/script.js';
import { writeGathererScripts } from '../../../gatherer/scripts.js';
import { LOOPBACK } from '../../options/option-values.js';
import { type PasswordSources, readPasswordOption } from '../../options/passwords.js';
import { EXIT } from '../../output/exit.js';
import { printableJson } from '../../output/printable.js';
import { lifeWarningsOfFile } from '../../schedule/life-warnings.js';
import { HARVEST_PROGRAM } from '../../start-program.js';
import { type Answers, QUESTIONS } from '../answers.js';
import { Dialogue } from '../dialogue.js';
import { type Plan, type PlannedFile, planServer } from '../layout.js';

interface InitOptions
  extends PasswordSources,
    Partial<Omit<Answers, 'password'>>,
    Partial<Record<IndexerType, boolean>> {
  readonly yes: boolean;
  readonly novice: boolean;
  readonly dumbtty: boolean;
  readonly debug: boolean;
  readonly dontRun: boolean;
  readonly fake: boolean;
  readonly protect: boolean;
  readonly force: boolean;
  readonly json: boolean;
}

/** Paths of the planned files, by whether they were written. */
interface Written {
  readonly written: readonly string[];
  /** Existing files that were not overwritten. */
  readonly kept: readonly string[];
}

/** The action of `harvest init`; returns the exit status. */
export async function init(options: InitOptions): Promise<number> {
  const chosen = INDEXER_TYPES.filter((type) => options[type]);
  const engine: Engine = ENGINES[chosen[0] ?? 'embedded'];
  if (chosen.length > 1)
    throw new UsageError(`${chosen.map((type) => `--${type}`).join(' and ')} are mutually exclusive`);
  using dialogue = new Dialogue({
    given: await givenAnswers(options),
    silent: options.yes,
    novice: options.novice,
    dumb: options.dumbtty,
  });
  const answers = await dialogue.answers();
  const plan = await planServer(answers, {
    indexer: engine.title,
    ...(engine.configuration === undefined ? {} : { indexerConfiguration: engine.configuration }),
    debug: options.debug,
  });
  if (options.fake) {
    process.stdout.write(fakeReport(plan, options.json));
    return EXIT.ok;
  }
  const { written, kept } = await write(plan, answers, options, dialogue);
  for (const warning of lifeWarningsOfFile(plan.gathererFile)) process.stderr.write(`Warning: ${warning}\n`);
  const mayStart = !options.dontRun && (await dialogue.confirm('Gather, and start both now?', true, true));
  const running = mayStart ? await start(plan, answers, options.json) : false;
  if (options.json) {
    const { gathererDirectory, gathererFile, brokerDirectory, brokerFile } = plan;
    const created = { gathererDirectory, gathererFile, brokerDirectory, brokerFile, written, kept, running };
    process.stdout.write(`${printableJson({ ...created, page: pageOf(answers) })}\n`);
  } else process.stdout.write(report(plan, answers, kept, running));
  return EXIT.ok;
}

async function givenAnswers(options: InitOptions): Promise<Partial<Answers>> {
  const given: Partial<Record<keyof Answers, string>> = {};
  for (const { key } of QUESTIONS) {
    const value = key === 'password' ? await readPasswordOption(options) : options[key];
    if (value !== undefined) given[key] = value;
  }
  return given;
}

async function write(
  plan: Plan,
  answers: Answers,
  { force }: InitOptions,
  dialogue: Dialogue,
): Promise<Written> {
  const written: string[] = [];
  const kept: string[] = [];
  for (const directory of plan.directories) await createPlanned(directory);
  for (const file of plan.files) {
    const mayWrite =
      force ||
      !(await exists(file.path)) ||
      (await dialogue.confirm(`${file.path} exists. Overwrite it?`, false, false));
    if (mayWrite) await writePlanned(file);
    (mayWrite ? written : kept).push(file.path);
  }
  const harvest = [process.execPath, HARVEST_PROGRAM];
  const scripts = await writeGathererScripts({
    directory: plan.gathererDirectory,
    configurationFile: plan.gathererFile,
    dataDirectory: join(plan.gathererDirectory, 'data'),
    // --host of RunGatherd and RunBroker opens them to other hosts.
    host: LOOPBACK,
    port: Number(answers.gathererPort),
    harvest,
  });
  written.push(...scripts.map((name) => join(plan.gathererDirectory, name)));
  const { brokerDirectory, brokerFile: configFile } = plan;
  const webPort = Number(answers.wwwPort);
  if (await writeRunBroker({ brokerDirectory, configFile, host: LOOPBACK, webPort, harvest }))
    written.push(join(brokerDirectory, 'RunBroker'));
  return { written, kept };
}

async function createPlanned(directory: string): Promise<void> {
  try {
    await createDirectory(directory);
  } catch (cause) {
    throw new StorageError(`${directory} cannot be created: ${messageOf(cause)}`, { cause });
  }
}

/** Writes a file atomically; it never has wider permissions than `mode`. */
function writePlanned({ path, content, mode }: PlannedFile): Promise<void> {
  return replaceFile(
    path,
    async (temporary) => {
      await writeFile(temporary, content, { mode });
      await chmod(temporary, mode);
    },
    { force: true },
  );
}

/** Gathers once, then starts the Broker, which collects at its start. */
async function start(plan: Plan, { wwwPort }: Answers, json: boolean): Promise<boolean> {
  await run(['gatherer', plan.gathererFile], 'the Gatherer', json);
  const args = ['broker', plan.brokerFile, '--detach', '--host', LOOPBACK, '--web-port', wwwPort];
  await run(args, 'the Broker', json);
  return true;
}

/** Runs a command with the same standard error; with `--json` its standard output goes there too. */
async function run(args: readonly string[], name: string, json: boolean): Promise<void> {
  const out = json ? 2 : 'inherit';
  const child = spawn(process.execPath, [HARVEST_PROGRAM, ...args], { stdio: ['ignore', out, 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0)
    throw new ConnectionError(`${name} ended with status ${code ?? 'unknown'}; all files are written`);
}

function pageOf({ wwwHost, wwwPort }: Answers): string {
  return `http://${wwwHost}:${wwwPort}/`;
}

function fakeReport({ directories, files }: Plan, json: boolean): string {
  if (json) return `${JSON.stringify({ directories, files: files.map(({ path }) => path) })}\n`;
  const shown = files.map(({ path, content, mode }) => {
    // The password is not printed; of the long rule files only the names are.
    if (path.includes('/lib/')) return `--- ${path}\n`;
    const text = mode === 0o600 ? content.replace(/^(Admin-Password) .*$/m, '$1 ...') : content;
    return `--- ${path}\n${text}`;
  });
  return `${directories.map((path) => `--- ${path}/\n`).join('')}${shown.join('')}`;
}

function report(plan: Plan, answers: Answers, kept: readonly string[], running: boolean): string {
  const { gathererDirectory, gathererFile, brokerDirectory, brokerFile, isPasswordGenerated } = plan;
  const lines = kept.map((path) => `Kept: ${path}`);
  if (isPasswordGenerated && !kept.includes(brokerFile))
    lines.push(`The Broker's password is in ${brokerFile}`);
  const next = running
    ? [
        `Search:          ${pageOf(answers)}`,
        `                 harvest query localhost:${answers.brokerPort} WORD`,
        `Summaries:       harvest gather -info localhost ${answers.gathererPort}`,
        `Gather again:    ${join(gathererDirectory, 'RunGatherer')}`,
        `By cron:         harvest schedule ${gathererFile} ${brokerFile}`,
        `Stop:            harvest kill-gatherd -d ${join(gathererDirectory, 'data')}`,
        `                 kill $(cat ${join(brokerDirectory, 'admin', 'broker.pid')})`,
      ]
    : [
        `Look at:         ${gathererFile}`,
        `Gather:          ${join(gathererDirectory, 'RunGatherer')}`,
        `Start the Broker: ${join(brokerDirectory, 'RunBroker')}`,
        `Then search:     ${pageOf(answers)}`,
      ];
  return `${[...lines, ...next].join('\n')}\n`;
}
