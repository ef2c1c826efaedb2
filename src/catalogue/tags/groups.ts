/** The groups of tags that a game offers, for the nouns that this one stands on. */
export { addTagGroup, type NewTagGroup, type TagGroup, tagGroupsOf } from './store.ts';

/** The names under which the game's translations hold the names of groups and tags. */
export const groupField = (groupId: number) => `tag_group/${groupId}`;
export const tagField = (tagId: number) => `tag/${tagId}`;
