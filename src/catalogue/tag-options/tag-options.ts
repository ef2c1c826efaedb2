export {
  addTagGroup,
  addTags,
  addToCounts,
  changeTagGroup,
  type NewTagGroup,
  removeTagGroup,
  removeTags,
  renameTag,
  type Tag,
  type TagGroup,
  tagGroupsOf,
  tagsById,
} from './store.ts';

/** The field names under which translations of the game contain the names of groups and tags. */
export const groupField = (groupId: number) => `tag_group/${groupId}`;
export const tagField = (tagId: number) => `tag/${tagId}`;
