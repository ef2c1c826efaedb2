import { userAddress } from './addresses.ts';

const NAME = /(^|[^\w@/.-])@([a-z0-9][a-z0-9-]{0,49})(?![\w@-])/gi;

/** Links the `@name-id` of a cleaned text, outside of its tags and of its own links. */
export function withMentions(cleaned: string): string {
  let links = 0;
  return cleaned
    .split(/(<[^>]*>)/)
    .map((part) => {
      if (/^<a[\s>]/i.test(part)) links++;
      if (/^<\/a>/i.test(part)) links--;
      if (part.startsWith('<') || links > 0) return part;
      return part.replace(
        NAME,
        (_, before, name) => `${before}<a href="${userAddress(name.toLowerCase())}">@${name}</a>`,
      );
    })
    .join('');
}

interface Positioned {
  readonly id: number;
  readonly reply_id: number;
}

/** A comment with its answers. */
export interface Thread<Comment> {
  readonly comment: Comment;
  readonly replies: readonly Thread<Comment>[];
}

/** Answers below what they answer; those whose parent is not listed stand alone. */
export function threadsOf<Comment extends Positioned>(comments: readonly Comment[]): readonly Thread<Comment>[] {
  const ids = new Set(comments.map(({ id }) => id));
  const below = Map.groupBy(comments, ({ reply_id }) => (ids.has(reply_id) ? reply_id : 0));
  const threadOf = (comment: Comment): Thread<Comment> => ({
    comment,
    replies: (below.get(comment.id) ?? []).map(threadOf),
  });
  return (below.get(0) ?? []).map(threadOf);
}
