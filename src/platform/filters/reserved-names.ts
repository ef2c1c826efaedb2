import { confusableRuns, confusableSkeleton, confusableWords, withoutRun } from './confusables.ts';
import { isGenericWord } from './generic-words.ts';

const SERVICE = confusableSkeleton('Modstead');

const setOf = (...words: string[]): ReadonlySet<string> => new Set(words.map(confusableSkeleton));

/** Titles of staff. `mod` and `manager` are missing, because many applications manage mods. */
const TITLES = setOf(
  ...['official', 'verified', 'admin', 'admins', 'administrator', 'administrators', 'administration', 'moderator'],
  ...['moderators', 'moderation', 'helpdesk', 'sysadmin', 'sysop'],
);

/** Departments and accounts of staff. They are common words, so `Life Support` and `Solar System` are free. */
const ROLES = setOf('staff', 'support', 'security', 'system', 'root');
const STAFF: ReadonlySet<string> = TITLES.union(ROLES);

/** Words that say of a role whose it is or what it does: `Customer Support`, `Account Security`, `System Update`. */
const AROUND_ROLES = setOf(
  ...['a', 'account', 'accounts', 'alert', 'alerts', 'and', 'center', 'centre', 'chat', 'check', 'contact', 'customer'],
  ...[
    'department',
    'desk',
    'email',
    'for',
    'help',
    'live',
    'mail',
    'member',
    'message',
    'my',
    'notice',
    'of',
    'online',
  ],
  ...['our', 'password', 'payment', 'payments', 'platform', 'player', 'players', 'service', 'services', 'sign', 'in'],
  ...['task', 'team', 'tech', 'technical', 'the', 'ticket', 'tickets', 'trust', 'safety', 'update', 'user', 'users'],
  ...['verification', 'your'],
);

/** Host names and paths of the service. */
const ADDRESSES: ReadonlySet<string> = new Set(
  ['api', 'www', 'test', 'ws', 'mail', 'docs', 'files', 'legal', 'me', 'oauth'].map(confusableSkeleton),
);

/** The names of deleted and merged accounts. A user with such a name would prevent another account from ending. */
const ENDED = /^(deleted|merged)-\d+$/;

/** Shorter labels of a domain, such as `mods` or `www`, are common words, and so are some longer ones. */
const LABEL_LETTERS_MIN = 5;
const COMMON_LABELS = setOf(
  ...['digital', 'entertainment', 'games', 'gaming', 'interactive', 'media', 'modding', 'network', 'online', 'play'],
  ...['servers', 'software', 'studio', 'studios', 'world'],
);

/** The label of a domain that names the site: `example` of `mods.example.com`. */
function siteLabel(domain: string): string | undefined {
  const labels = domain.split('.');
  const label = labels.length > 1 ? confusableSkeleton(labels.at(-2)!) : '';
  const isCommon = label.length < LABEL_LETTERS_MIN || COMMON_LABELS.has(label) || isGenericWord(label);
  return isCommon ? undefined : label;
}

/**
 * True if a name resembles the service, the site at this domain, or its staff. The part `own`, a name that staff have
 * accepted, is ignored.
 */
export const resemblesService = (name: string, domain: string, own = ''): boolean =>
  // `@dmin` has a letter there, `@admin` a symbol.
  [name, name.replaceAll('@', ' ')].some((spelling) => resembles(withoutRun(confusableWords(spelling), own), domain));

function resembles(words: readonly string[], domain: string): boolean {
  if (names(words, SERVICE) || (domain.includes('.') && names(words, confusableSkeleton(domain)))) return true;
  const label = siteLabel(domain);
  const isTitle = STAFF.has(words.join('')) || words.some((word) => TITLES.has(word) || word === label);
  return isTitle || isRole(words);
}

/** Shorter names are a part of ordinary words: `Taco` contains the domain `a.co`. */
const WITHIN_LETTERS_MIN = 8;

/** Whether words spell a name, alone or after others. A longer last word is another one: `Mod Steadfast`. */
function names(words: readonly string[], name: string): boolean {
  const isLong = name.length >= WITHIN_LETTERS_MIN;
  if (isLong && words.some((word) => word.includes(name))) return true;
  const spellings = [name, `${name}s`];
  return [...confusableRuns(words)].some((run) =>
    spellings.some((each) => (isLong ? run.endsWith(each) : run === each)),
  );
}

/** Whether a name consists of a role and words that belong to one. */
const isRole = (words: readonly string[]): boolean =>
  words.some((word) => ROLES.has(word)) &&
  words.every((word) => ROLES.has(word) || AROUND_ROLES.has(word) || isGenericWord(word));

/** Names that no user may have, so that nobody can impersonate the service or its staff. */
export const isReservedForPeople = (name: string, domain: string): boolean =>
  ENDED.test(name) || ADDRESSES.has(confusableSkeleton(name)) || resemblesService(name, domain);

/** Names that no game may have in its address. */
export const isReservedForGames = (nameId: string, domain: string): boolean =>
  ADDRESSES.has(confusableSkeleton(nameId)) || isReservedForContent(nameId, domain);

/**
 * Names that no mod, guide or collection may have in its address. Only names of the service and of staff are reserved,
 * because content such as `system-overhaul` impersonates nobody.
 */
export function isReservedForContent(nameId: string, domain: string): boolean {
  const reserved = new Set([...STAFF, SERVICE, confusableSkeleton(domain), siteLabel(domain)]);
  const words = confusableWords(nameId);
  return reserved.has(words.join('')) || (words.length > 0 && words.every((word) => reserved.has(word)));
}
