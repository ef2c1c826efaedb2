import { pluralsOf } from './plural.ts';

const plural = pluralsOf('en');

/** One group per area of the site. */
export const en = {
  common: {
    skip: 'Skip to content',
    sandbox: 'Sandbox',
    sandboxHint: 'Test environment: nothing here is real.',
    search: 'Search',
    searchGames: 'Search games',
    searchIn: (game: string) => `Search ${game}`,
    games: 'Games',
    signIn: 'Sign in',
    signOut: 'Sign out',
    menuOf: (name: string) => `Menu of ${name}`,
    profile: 'Profile',
    library: 'Library',
    notifications: 'Notifications',
    messages: 'Messages',
    account: 'Account',
    terms: 'Terms of use',
    privacy: 'Privacy',
    api: 'API',
    cancel: 'Cancel',
    save: 'Save',
    next: 'Next',
    previous: 'Previous',
    pageOf: (page: number, pages: number) => `Page ${page} of ${pages}`,
    pages: 'Pages',
    by: (name: string) => `by ${name}`,
    theme: 'Colours follow your system.',
  },
  errors: {
    notFoundTitle: 'This page does not exist',
    notFoundLead: 'The address may be mistyped, or what was here was renamed, hidden or removed.',
    deniedTitle: 'You cannot see this page',
    failedTitle: 'Something went wrong here',
    failedLead: 'It is our fault, not yours. Try again in a moment.',
    limitedTitle: 'That was too fast',
    reference: (ref: number) => `Reference ${ref}`,
    toHome: 'All games',
    toGame: (game: string) => `Mods for ${game}`,
  },
  browse: {
    homeTitle: 'Mods for your games',
    homeLead: 'Find, play and make mods.',
    gamesFound: (count: number) => plural(count, { one: '# game', other: '# games' }),
    noGames: 'There are no games yet. Studios add theirs through the API.',
    noGamesFor: (query: string) => `No game matches “${query}”.`,
    newest: 'New and updated',
    allMods: 'All mods',
    mods: (count: number) => plural(count, { one: '# mod', other: '# mods' }),
    downloads: (count: string) => `${count} downloads`,
    subscribers: (count: string) => `${count} subscribers`,
    ratings: (percent: number, count: number) =>
      `${percent}% positive of ${plural(count, { one: '# rating', other: '# ratings' })}`,
    unrated: 'Not rated yet',
    mature: 'Mature',
  },
};

/** The texts of the site in one language. English defines which there are. */
export type Texts = typeof en;
