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
