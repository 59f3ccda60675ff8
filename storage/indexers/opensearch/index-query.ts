/** A query of OpenSearch as JSON. */
export type IndexQuery = Readonly<Record<string, unknown>>;
