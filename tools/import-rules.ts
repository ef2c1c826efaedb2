type Patterns = string | readonly string[] | undefined;
export type Side = { path?: Patterns; pathNot?: Patterns; circular?: boolean };
export type Rule = { name: string; says: string; from: Side; to: Side };

/** Bottom first: a domain imports itself and the domains before it in this list. */
export const DOMAINS = [
  'platform',
  'records',
  'people',
  'catalogue',
  'files',
  'community',
  'moderation',
  'signin',
  'money',
  'studio',
  'pages',
  'composition',
  'moving',
  'demo',
  'commands',
] as const;
export type Domain = (typeof DOMAINS)[number];

/** `main.ts` starts a command, so it belongs to `commands`. */
export const domainOf = (file: string): Domain | undefined => {
  const name = file === 'src/main.ts' ? 'commands' : /^src\/([^/]+)\//.exec(file)?.[1];
  return DOMAINS.find((domain) => domain === name);
};

const RESOURCES = '(?:records|people|catalogue|files|community|moderation|signin|money|studio)';
const FOUNDATION =
  '^src/platform/(access|archives|config|database|egress|errors|filters|images|jobs|limits|localisation|mail|runtime|scanning|storage)/';
const RESOURCE = `^src/(${RESOURCES}/[^/]+)/`;
/** The files of a resource that define its API; the others contain its rules and SQL. */
const API_SHAPES = `^src/${RESOURCES}/[^/]+/(operations|object|changes)\\.ts$`;

/** The allowed directions of imports. `$1` is the first group of the importing side's pattern. */
export const rules: readonly Rule[] = [
  { name: 'no-cycles', says: 'no file imports itself, however indirectly', from: {}, to: { circular: true } },
  {
    name: 'foundation-knows-nothing-above',
    says: 'the foundations import neither the HTTP server nor a resource',
    from: { path: FOUNDATION },
    to: { path: '^src/platform/(http/|app\\.ts$)' },
  },
  {
    name: 'pages-call-rules',
    says: 'a page calls the rules of a resource, as an operation does',
    from: { path: '^src/pages/' },
    to: { path: ['/((\\w+-)?store|table|operations)\\.ts$', '^src/platform/database/', '^node_modules/kysely/'] },
  },
  {
    name: 'operations-never-touch-sql',
    says: 'a declaration calls the rules of its resource, never its store',
    from: { path: `^src/${RESOURCES}/[^/]+/operations\\.ts$` },
    to: { path: ['/(\\w+-)?store\\.ts$', '^src/platform/database/(?!listing)', '^node_modules/kysely/'] },
  },
  {
    name: 'rules-know-no-http',
    says: 'rules and stores do not depend on requests',
    from: { path: RESOURCE, pathNot: API_SHAPES },
    to: { path: '^src/platform/http/' },
  },
  {
    name: 'store-imports-its-table',
    says: 'a store imports the database, its own table and stores of its own resource',
    from: { path: `^src/(${RESOURCES}/[^/]+)/(?:\\w+-)?store\\.ts$` },
    to: { pathNot: ['^src/platform/database/', '^src/$1/((\\w+-)?store|table)\\.ts$', '^node_modules/kysely/'] },
  },
  {
    name: 'reader-thread-loads-no-package',
    says: 'the threads of SQLite load neither the query builder nor the service, which would take most of their start and memory',
    from: { path: '^src/platform/database/sqlite-\\w+-worker\\.ts$' },
    to: {
      pathNot: [
        '^node:',
        '^src/platform/database/(failures|may-scan|patterns|sqlite-reader)\\.ts$',
        '^src/platform/runtime/thread\\.ts$',
      ],
    },
  },
  {
    name: 'resources-meet-at-their-rules',
    says: 'another resource is reached through its rules, its object or its access alone',
    from: { path: RESOURCE },
    to: {
      path: `^src/${RESOURCES}/([^/]+)/((?:\\w+-)?store|table|operations|documents|listing|changes|jobs)\\.ts$`,
      pathNot: '^src/$1/',
    },
  },
  {
    name: 'client-stands-alone',
    says: 'the client imports nothing but itself and modules of Node.js',
    from: { path: '^client/' },
    to: { pathNot: ['^client/', '^node:'] },
  },
  {
    name: 'service-knows-no-client',
    says: 'the service never uses its own client; only the commands for authors and servers are built on it',
    from: { path: '^src/', pathNot: '^src/commands/(publishing|syncing)/' },
    to: { path: '^client/' },
  },
  {
    name: 'site-calls-the-api',
    says: 'the site reaches the service through the client alone, and the service never imports the site',
    from: { path: '^site/' },
    to: { path: ['^src/', '^client/', '^(?!site/|node_modules/|node:)'] },
  },
  {
    name: 'service-knows-no-site',
    says: 'the service mounts the built site and imports nothing of it',
    from: { path: '^src/' },
    to: { path: ['^site/', '^node_modules/@modstead/site/'] },
  },
];
