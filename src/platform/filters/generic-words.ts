import { confusableSkeleton, confusableWords } from './confusables.ts';

/** Purposes of applications. A name made of these alone identifies no application, so every game may use it. */
const GENERIC: ReadonlySet<string> = new Set(
  [
    ...['app', 'application', 'backend', 'bot', 'client', 'community', 'companion', 'console', 'dashboard', 'desktop'],
    ...['discord', 'forum', 'game', 'home', 'hub', 'launcher', 'login', 'manager', 'mobile', 'mod', 'mods', 'portal'],
    ...['server', 'shop', 'site', 'store', 'test', 'tool', 'tools', 'tv', 'web', 'website', 'wiki', 'workshop'],
  ].map(confusableSkeleton),
);

export const isGenericWord = (skeleton: string): boolean => GENERIC.has(skeleton);

/** The skeletons of the words that identify something; empty for a generic name. */
export const distinctiveWords = (name: string): readonly string[] =>
  confusableWords(name).filter((word) => !GENERIC.has(word));
