import { confusableSkeleton, confusableWords, withoutRun } from './confusables.ts';

const SERVICE = confusableSkeleton('Modstead');

/** Titles of staff. `mod` and `manager` are missing, because many applications manage mods. */
const STAFF: ReadonlySet<string> = new Set(
  [
    ...['official', 'verified', 'admin', 'admins', 'administrator', 'administrators', 'administration', 'moderator'],
    ...['moderators', 'moderation', 'staff', 'support', 'helpdesk', 'security', 'system', 'sysadmin', 'sysop', 'root'],
  ].map(confusableSkeleton),
);

/** Host names and paths of the service. */
const ADDRESSES: ReadonlySet<string> = new Set(
  ['api', 'www', 'test', 'ws', 'mail', 'docs', 'files', 'legal', 'me', 'oauth'].map(confusableSkeleton),
);

/** The names of deleted and merged accounts. A user with such a name would prevent another account from ending. */
const ENDED = /^(deleted|merged)-\d+$/;

/** Shorter labels of a domain, such as `mods` or `www`, are common words. */
const LABEL_LETTERS_MIN = 5;

/** The label of a domain that names the site: `example` of `mods.example.com`. */
function siteLabel(domain: string): string | undefined {
  const labels = domain.split('.');
  const label = labels.length > 1 ? confusableSkeleton(labels.at(-2)!) : '';
  return label.length >= LABEL_LETTERS_MIN ? label : undefined;
}

/**
 * True if a name resembles the service, the site at this domain, or its staff. The part `own`, a name that staff have
 * accepted, is ignored.
 */
export const resemblesService = (name: string, domain: string, own = ''): boolean =>
  // `@dmin` has a letter there, `@admin` a symbol.
  [name, name.replaceAll('@', ' ')].some((spelling) => resembles(withoutRun(confusableWords(spelling), own), domain));

function resembles(words: readonly string[], domain: string): boolean {
  const whole = words.join('');
  const site = confusableSkeleton(domain);
  if (whole.includes(SERVICE) || (domain.includes('.') && whole.includes(site))) return true;
  const label = siteLabel(domain);
  return STAFF.has(whole) || words.some((word) => STAFF.has(word) || word === label);
}

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
