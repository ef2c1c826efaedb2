type Patterns = string | readonly string[] | undefined;
export type Side = { path?: Patterns; pathNot?: Patterns; circular?: boolean };
export type Rule = { name: string; says: string; from: Side; to: Side };

const FOUNDATION =
  '^src/(access|archives|config|database|egress|errors|filters|images|jobs|limits|localisation|mail|scanning|storage)/';
const NOUN = '^src/resources/([^/]+)/';
/** The files of a noun that shape the API; the others hold its rules and its SQL. */
const API_SHAPES = '^src/resources/[^/]+/(operations|object|changes)\\.ts$';

/** The architecture as rules: which way imports may flow. `$1` is the first group of the importing side. */
export const rules: readonly Rule[] = [
  { name: 'no-cycles', says: 'none, anywhere', from: {}, to: { circular: true } },
  {
    name: 'http-knows-no-resource',
    says: 'compose.ts hands http/ the list of operations',
    from: { path: '^src/http/' },
    to: { path: '^src/(resources|commands|pages)/|^src/(compose|main)\\.ts$' },
  },
  {
    name: 'pages-show-what-nouns-rule',
    says: 'a page calls rules, as an operation does',
    from: { path: '^src/pages/' },
    to: { path: ['/(store|table|operations)\\.ts$', '^src/database/', '^node_modules/kysely/', '^src/commands/'] },
  },
  {
    name: 'nouns-know-no-page',
    says: 'what pages show does not depend on them',
    from: { path: '^src/resources/' },
    to: { path: '^src/pages/' },
  },
  {
    name: 'foundation-knows-nothing-above',
    says: 'foundations serve every noun and know none',
    from: { path: FOUNDATION },
    to: { path: '^src/(http|resources|commands|pages)/|^src/(compose|context|main)\\.ts$' },
  },
  {
    name: 'operations-never-touch-sql',
    says: 'a declaration calls the rules of its noun, never its store',
    from: { path: '^src/resources/[^/]+/operations\\.ts$' },
    to: { path: ['/store\\.ts$', '^src/database/(?!listing)', '^node_modules/kysely/'] },
  },
  {
    name: 'domain-knows-no-http',
    says: 'rules and stores speak of the noun, not of requests',
    from: { path: NOUN, pathNot: API_SHAPES },
    to: { path: '^src/http/' },
  },
  {
    name: 'store-is-the-floor',
    says: 'a store stands on the database and its own table alone',
    from: { path: '^src/resources/([^/]+)/store\\.ts$' },
    to: { pathNot: ['^src/database/', '^src/resources/$1/table\\.ts$', '^node_modules/kysely/'] },
  },
  {
    name: 'neighbours-meet-at-the-domain',
    says: 'another noun is reached through its rules, its object or its access alone',
    from: { path: NOUN },
    to: {
      path: '^src/resources/([^/]+)/(store|table|operations|documents|listing|changes|jobs)\\.ts$',
      pathNot: '^src/resources/$1/',
    },
  },
];
