/** Exit statuses of the commands; each command's help says which it uses. */
export const EXIT = { ok: 0, failure: 1, usage: 2, connection: 3, interrupted: 130 } as const;
