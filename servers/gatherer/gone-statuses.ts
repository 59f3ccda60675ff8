/** HTTP statuses of documents that do not exist, or no longer. */
export const GONE_STATUSES: ReadonlySet<number> = new Set([404, 410]);
