export type ClamdAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** Parses `tcp://host:port` or `unix:/path`; undefined for anything else. */
export function toClamdAddress(text: string): ClamdAddress | undefined {
  const unix = /^unix:(?:\/\/)?(\/.+)$/.exec(text);
  if (unix) return { path: unix[1]! };
  const tcp = /^tcp:\/\/(?:\[([0-9a-f:.]+)\]|([^\s/:@[\]]+)):(\d{1,5})\/?$/i.exec(text);
  const port = Number(tcp?.[3]);
  return tcp && port >= 1 && port <= 65_535 ? { host: (tcp[1] ?? tcp[2])!, port } : undefined;
}
