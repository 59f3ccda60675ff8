/** a message is written if its level is not above `debuglevel`. */
export const LEVEL = {
  critical: 10,
  error: 20,
  warning: 30,
  notice: 40,
  request: 50,
  lookUp: 60,
  connection: 70,
  protocol: 80,
} as const;

/** The levels of the other servers' logs, and the severities of syslog (R-66, R-68). */
const SEVERITIES = [
  { upTo: LEVEL.critical, name: 'fatal', syslog: 2 },
  { upTo: LEVEL.error, name: 'error', syslog: 3 },
  { upTo: LEVEL.warning, name: 'warn', syslog: 4 },
  { upTo: LEVEL.notice, name: 'info', syslog: 5 },
  { upTo: Number.POSITIVE_INFINITY, name: 'debug', syslog: 7 },
] as const;

export function severityOf(level: number): (typeof SEVERITIES)[number] {
  return SEVERITIES.find(({ upTo }) => level <= upTo) ?? SEVERITIES[4];
}
