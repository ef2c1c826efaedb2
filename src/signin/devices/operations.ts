import { ApiError } from '../../platform/errors/catalogue.ts';
import type { SocketOperation } from '../../platform/http/socket-operation.ts';
import { awaitDeviceLogin, beginDeviceLogin, connectAddress } from './devices.ts';

/** The game id of the message, or else that of the host name. They must not differ. */
function gameOf({ game_id: named }: Readonly<Record<string, unknown>>, hostGameId: number | undefined): number {
  const gameId = named === undefined || named === null ? hostGameId : Number(named);
  if (gameId === undefined || !Number.isSafeInteger(gameId) || gameId < 1) throw new ApiError('GAME_NOT_FOUND');
  if (hostGameId !== undefined && hostGameId !== gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  return gameId;
}

const deviceLogin: SocketOperation = {
  name: 'device_login',
  limit: 10,
  says: 'Answers with a code that the user types at `login_url`; the token follows as `access_token`.',
  handle: async (app, context, connection, wait) => {
    const login = await beginDeviceLogin(app, { gameId: gameOf(context, connection.hostGameId) });
    const waiting = awaitDeviceLogin(app, login, connection.signal).then(
      (token) => token && connection.send('access_token', { code: 200, ...token }),
      // Clients wait for `access_token` by now, so the failure has to name it.
      (error) => connection.fail('access_token', error),
    );
    wait(waiting);
    const address = connectAddress(app);
    // Shipped clients append "?code=" and the code themselves.
    return {
      code: login.code,
      date_expires: login.dateExpires,
      display_url: address.replace(/^https:\/\//, ''),
      login_url: address,
    };
  },
};

export const deviceSocketOperations = [deviceLogin];
