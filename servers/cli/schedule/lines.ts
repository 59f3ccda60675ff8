import { createHash } from 'node:crypto';
import { shellWord } from '../../host/script-file.js';
import type { Collection, Job, Period } from './jobs.js';

/** A job with its time. */
export interface TimedJob {
  readonly job: Job;
  readonly time: TimeOfDay;
  readonly period: Period;
  /** Account of the run; undefined is the owner of the crontab, or root for systemd. */
  readonly user: string | undefined;
}

/** A unit file of systemd. */
export interface Unit {
  readonly name: string;
  readonly content: string;
}

/** Command that runs `harvest`, with absolute paths: cron and systemd do not use the user's PATH. */
export type HarvestCommand = readonly string[];

/** Returns the command that gathers: RunGatherer if it exists. */
function gatherCommand({ script, file }: Job, harvest: HarvestCommand): readonly string[] {
  return script === undefined ? [...harvest, 'gatherer', file] : [script];
}

/**
 * Returns the shell command that makes a Broker collect. The password goes from broker.conf through a pipe, so
 * it is neither stored twice nor visible in the list of processes.
 */
function collectCommand({ file, port }: Collection, harvest: HarvestCommand): string {
  const password = `sed -n 's/^[Aa]dmin-[Pp]assword[[:blank:]:]*//p' ${shellWord(file)}`;
  const admin = [...harvest, 'broker', 'admin', '--password-file', '-', `localhost:${port}`, 'collection'];
  return `${password} | ${admin.map(shellWord).join(' ')}`;
}

/**
 * Returns a line of a crontab, or with a user of a file in /etc/cron.d. The Brokers collect after the Gatherer
 * (G-157).
 */
export function cronLine({ job, time, period, user }: TimedJob, harvest: HarvestCommand): string {
  const steps = [
    gatherCommand(job, harvest).map(shellWord).join(' '),
    ...job.collections.map((collection) => collectCommand(collection, harvest)),
  ];
  // For cron an unescaped % ends the command.
  const command = steps
    .map((step) => `${step} >/dev/null`)
    .join(' && ')
    .replaceAll('%', '\\%');
  return `${cronTime(time, period)} ${user === undefined ? '' : `${user} `}${command}`;
}

/** Returns the service of a Gatherer and the timer that starts it. */
export function systemdUnits(
  { job, time, period, user }: TimedJob,
  harvest: HarvestCommand,
): readonly Unit[] {
  const name = `harvest-${job.id}`;
  const description = job.name.replaceAll('%', '%%');
  const service = [
    '[Unit]',
    `Description=Gather: ${description}`,
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=oneshot',
    // gatherd keeps running after the Gatherer (G-2).
    'KillMode=process',
    ...(user === undefined ? [] : [`User=${user}`]),
    `WorkingDirectory=${job.directory.replaceAll('%', '%%')}`,
    `ExecStart=${gatherCommand(job, harvest).map(systemdWord).join(' ')}`,
    // G-157: Brokers collect only after a successful run.
    ...job.collections.map(
      (collection) => `ExecStartPost=/bin/sh -c ${systemdWord(collectCommand(collection, harvest))}`,
    ),
    'Nice=10',
    '',
  ];
  const timer = [
    '[Unit]',
    `Description=When to gather: ${description}`,
    '',
    '[Timer]',
    `OnCalendar=${calendarTime(time, period)}`,
    // A run that was missed while the machine was off is run after the start.
    'Persistent=true',
    '',
    '[Install]',
    'WantedBy=timers.target',
    '',
  ];
  return [
    { name: `${name}.service`, content: service.join('\n') },
    { name: `${name}.timer`, content: timer.join('\n') },
  ];
}

/** Quotes a text as one word for systemd; `%` and `$` lose their special meaning. */
function systemdWord(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return `"${escaped}"`;
}

/** A time of day, local. */
export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

const DAY_MINUTES = 24 * 60;

/**
 * Spreads jobs over `spread` minutes from `begin`, so that they do not run at the same time, and so that not
 * all machines run at the full hour. The same ids always get the same times.
 */
export function spreadTimes(ids: readonly string[], begin: TimeOfDay, spread: number): TimeOfDay[] {
  const share = spread / Math.max(1, ids.length);
  return ids.map((id, i) => {
    const jitter = createHash('sha256').update(id).digest().readUInt16BE(0) / 0x1_0000;
    const minute = Math.floor(begin.hour * 60 + begin.minute + share * (i + jitter)) % DAY_MINUTES;
    return { hour: Math.floor(minute / 60), minute: minute % 60 };
  });
}

/** Returns the five time fields of a crontab line; weekly is on Sunday, monthly on the first. */
function cronTime({ hour, minute }: TimeOfDay, period: Period): string {
  const days = { daily: '* * *', weekly: '* * 0', monthly: '1 * *' }[period];
  return `${minute} ${hour} ${days}`;
}

/** Returns the value of OnCalendar= of a systemd timer. */
function calendarTime({ hour, minute }: TimeOfDay, period: Period): string {
  const days = { daily: '*-*-*', weekly: 'Sun *-*-*', monthly: '*-*-01' }[period];
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${days} ${two(hour)}:${two(minute)}:00`;
}
