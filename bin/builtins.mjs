// Importing a module of Node.js reads all of its exports. These load a WebSocket client, HTTP/2, web streams, Web
// Cryptography and all root certificates: 30 ms of a start, and memory that the service does not need.
const COSTLY = {
  'node:crypto': ['webcrypto', 'subtle', 'getRandomValues'],
  'node:http': ['WebSocket', 'CloseEvent', 'MessageEvent'],
  'node:tls': ['rootCertificates'],
};

/** True for modules of Node.js with exports that are costly to read. */
export const hasCostlyExports = (name) => Object.hasOwn(COSTLY, name);

/** A module with the other exports. `process.getBuiltinModule` has them all. */
export function withoutCostlyExports(name) {
  const names = Object.keys(process.getBuiltinModule(name)).filter((key) => !COSTLY[name].includes(key));
  return `const all = process.getBuiltinModule('${name}');
export default all;
export const { ${names.join(', ')} } = all;`;
}
