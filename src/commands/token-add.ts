import type { TokenScope } from '../platform/access/caller.ts';
import { issueToken, TOKEN_LIFETIME_SECONDS } from '../platform/access/credentials.ts';
import { columns, command, idOf, misuse } from './invocation/command.ts';
import { auditCommand, requireKnownGame, requireKnownUser, withApp } from './operator.ts';

/** The other scopes belong to service tokens. */
const SCOPES: readonly TokenScope[] = ['read', 'write'];

export default command({
  name: 'token add',
  usage: '--user USER_ID [--scope "read write"] [--game GAME_ID] [--expires UNIX]',
  says: 'Issues an access token for a user and prints it, once.',
  json: true,
  options: {
    user: { type: 'string', value: 'USER_ID', required: true, says: 'the user it belongs to' },
    scope: { type: 'string', value: 'SCOPES', says: 'read, write, or both separated by a space (default: both)' },
    game: { type: 'string', value: 'GAME_ID', says: 'the game in which the user signed in' },
    expires: {
      type: 'string',
      value: 'UNIX',
      says: 'when it expires, in Unix seconds, at most one year ahead (default)',
    },
  },
  run: async ({ values, settings, environment }) => {
    const userId = idOf(values.user, '--user');
    const gameId = values.game === undefined ? undefined : idOf(values.game, '--game');
    const scopes = scopesOf(values.scope ?? SCOPES.join(' '));
    return withApp(settings(), environment, async (app) => {
      const dateExpires = expiryOf(values.expires, app.clock.now());
      const user = await requireKnownUser(app, userId);
      if (gameId !== undefined) await requireKnownGame(app, gameId);
      const token = await app.db.write(async (transaction) => {
        const issued = await issueToken(app, transaction, { userId, gameId, scopes, dateExpires });
        await auditCommand(app, transaction, 'users.token-add', { resource: 'users', id: userId }, { scopes });
        return issued;
      });
      return {
        object: token,
        text: columns([
          ['Access token', `${token.access_token} (shown only now)`],
          ['Acts for', `${user.username} (user ${userId}), to ${scopes.join(' and ')}`],
          ['Ends', new Date(token.date_expires * 1000).toISOString()],
        ]),
      };
    });
  },
});

function scopesOf(text: string): TokenScope[] {
  const words = text.split(/[\s,]+/).filter(Boolean);
  const wrong = words.find((word) => !SCOPES.includes(word as TokenScope));
  if (wrong !== undefined || words.length === 0)
    throw misuse(`--scope must be read, write, or "read write", not "${wrong ?? text}".`);
  return SCOPES.filter((scope) => words.includes(scope));
}

function expiryOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const moment = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  if (moment <= now || moment > now + TOKEN_LIFETIME_SECONDS)
    throw misuse(`--expires must be Unix seconds from now (${now}) to one year later, not "${text}".`);
  return moment;
}
