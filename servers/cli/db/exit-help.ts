/** The end of every tool's help. */
export const EXIT_HELP = `
Exit status: 0 done; 1 failure; 2 usage; 130 interrupted. A tool that fails or is killed leaves the database unchanged.
`;
