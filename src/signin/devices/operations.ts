import { ApiError } from '../../platform/errors/catalogue.ts';
import type { SocketOperation } from '../../platform/http/socket-operation.ts';
import { awaitDeviceLogin, beginDeviceLogin, connectAddress } from './devices.ts';

/** The game in the message counts, the one in the host name where the message names none; they may not differ. */
function gameOf({ game_id: named }: Readonly<Record<string, unknown>>, hostGameId: number | undefined): number {
  const gameId = named === undefined || named === null ? hostGameId : Number(named);
  if (gameId === undefined || !Number.isSafeInteger(gameId) || gameId < 1) throw new ApiError('GAME_NOT_FOUND');
  if (hostGameId !== undefined && hostGameId !== gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  return gameId;
}

const deviceLogin: SocketOperation = {
  name: 'device_login',
  limit: 10,
  says: 'Answers with a code for the person to type at `login_url`; the token follows as `access_token`.',
  handle: async (app, context, connection, wait) => {
    const login = await beginDeviceLogin(app, { gameId: gameOf(context, connection.hostGameId) });
    const waiting = awaitDeviceLogin(app, login, connection.signal).then(
      (token) => token && connection.send('access_token', { code: 200, ...token }),
      // By then clients wait for the token, and end that on a failure which names it.
      (error) => connection.fail('access_token', error),
    );
    wait(waiting);
    const address = connectAddress(app);
    // Shipped clients put "?code=" and the code behind it themselves.
    return {
      code: login.code,
      date_expires: login.dateExpires,
      display_url: address.replace(/^https:\/\//, ''),
      login_url: address,
    };
  },
};

export const deviceSocketOperations = [deviceLogin];
