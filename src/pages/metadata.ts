import type { Page } from '../platform/http/pages.ts';
import { GRANTS } from '../signin/oauth/clients.ts';
import { AUTHORIZE_PATH } from './authorize.ts';

const CLIENT_METHODS = ['client_secret_basic', 'client_secret_post'];

/** RFC 8414: the endpoints, for a client that has only the address of the site. */
export const metadataPage: Page = {
  id: 'page-oauth-metadata',
  path: '/.well-known/oauth-authorization-server',
  get: ({ addresses: { site } }) => ({
    status: 200,
    text: {
      type: 'application/json',
      body: JSON.stringify({
        issuer: site,
        authorization_endpoint: `${site}${AUTHORIZE_PATH}`,
        token_endpoint: `${site}/v1/oauth/token`,
        device_authorization_endpoint: `${site}/v1/oauth/device_authorization`,
        revocation_endpoint: `${site}/v1/oauth/revoke`,
        scopes_supported: ['read', 'write', 'update', 'monetization'],
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: GRANTS,
        token_endpoint_auth_methods_supported: CLIENT_METHODS,
        revocation_endpoint_auth_methods_supported: CLIENT_METHODS,
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        service_documentation: `${site}/v1/docs`,
      }),
    },
  }),
};
