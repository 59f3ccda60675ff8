import { shellWord } from '../../host/index.js';
import type { Collection, Job } from './jobs.js';
import { calendarTime, cronTime, type Period, type TimeOfDay } from './times.js';

/** A job with its time. */
export interface TimedJob {
  readonly job: Job;
  readonly time: TimeOfDay;
  readonly period: Period;
  /** Whose account it runs under; undefined: that of the crontab's owner, or root's for systemd. */
  readonly user: string | undefined;
}

/** A file of systemd. */
export interface Unit {
  readonly name: string;
  readonly content: string;
}

/** Words that run `harvest`: absolute paths, for cron and systemd know no PATH of ours. */
export type HarvestWords = readonly string[];

/** The words that gather. */
export function gatherWords({ script, file }: Job, harvest: HarvestWords): readonly string[] {
  return script === undefined ? [...harvest, 'gatherer', file] : [script];
}

/**
 * Has a Broker collect, as one command line of the shell. The password goes from broker.conf into a pipe, so that it stands in
 * no second place and nobody sees it in the list of processes.
 */
export function collectLine({ file, port }: Collection, harvest: HarvestWords): string {
  const password = `sed -n 's/^[Aa]dmin-[Pp]assword[[:blank:]:]*//p' ${shellWord(file)}`;
  const admin = [...harvest, 'broker', 'admin', '--password-file', '-', `localhost:${port}`, 'collection'];
  return `${password} | ${admin.map(shellWord).join(' ')}`;
}

/** A line of a crontab; with a user, of a file in /etc/cron.d. G-157: the Brokers collect when the Gatherer is done. */
export function cronLine({ job, time, period, user }: TimedJob, harvest: HarvestWords): string {
  const steps = [
    gatherWords(job, harvest).map(shellWord).join(' '),
    ...job.collections.map((collection) => collectLine(collection, harvest)),
  ];
  // cron takes an unescaped % for the end of the line.
  const command = steps
    .map((step) => `${step} >/dev/null`)
    .join(' && ')
    .replaceAll('%', '\\%');
  return `${cronTime(time, period)} ${user === undefined ? '' : `${user} `}${command}`;
}

/** The service of a Gatherer and the timer that starts it. */
export function systemdUnits({ job, time, period, user }: TimedJob, harvest: HarvestWords): readonly Unit[] {
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
    // gatherd goes on when the gathering is over (G-2).
    'KillMode=process',
    ...(user === undefined ? [] : [`User=${user}`]),
    `WorkingDirectory=${job.directory.replaceAll('%', '%%')}`,
    `ExecStart=${gatherWords(job, harvest).map(systemdWord).join(' ')}`,
    // G-157: only after a gathering that succeeded.
    ...job.collections.map(
      (collection) => `ExecStartPost=/bin/sh -c ${systemdWord(collectLine(collection, harvest))}`,
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
    // A machine that was off gathers when it is on again.
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

/** Whatever a text holds, for systemd it is one word: `%` and `$` mean themselves. */
export function systemdWord(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return `"${escaped}"`;
}
