/**
 * Returns `host:port` of the proxy for FTP that the environment names: `ftp_proxy`, else `FTP_PROXY`; undefined without one.
 * @param environment e.g. `process.env`
 * @param onProblem receives the error if the variable is not a proxy's address; it is ignored then
 */
export function ftpProxyOf(
  environment: Readonly<Record<string, string | undefined>>,
  onProblem: (problem: Error) => void,
): string | undefined {
  const name = environment.ftp_proxy ? 'ftp_proxy' : 'FTP_PROXY';
  const value = environment[name] ?? '';
  if (value === '') return undefined;
  const [, host, port = '80'] =
    /^(?:http:\/\/)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i.exec(value) ?? [];
  if (host !== undefined && Number(port) >= 1 && Number(port) <= 65_535) return `${host}:${port}`;
  // The value may have a login.
  onProblem(new Error(`$${name} is ignored: it must be host:port or http://host:port/ (G-84)`));
  return undefined;
}
