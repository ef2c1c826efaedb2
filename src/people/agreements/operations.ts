import { z } from 'zod';
import { authentication, reader, user } from '../../platform/access/caller.ts';
import { PathId, page, pageOf } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { acceptanceListing, acceptVersion, listAcceptances } from './acceptances.ts';
import {
  addVersion,
  changeVersion,
  deleteVersion,
  listVersions,
  requireCurrent,
  requireVersion,
  versionListing,
} from './agreements.ts';
import { consentDialog } from './dialog.ts';
import {
  AgreementAcceptanceObject,
  AgreementVersionObject,
  TermsObject,
  toAcceptance,
  toAgreementVersion,
} from './object.ts';

const TypePath = z.object({ agreement_type_id: PathId });
const VersionPath = z.object({ agreement_version_id: PathId });

const texts = {
  name: z.string().trim().min(1).max(100),
  changelog: z.string().trim().max(10_000).meta({ description: 'The changes in this version.' }),
  description: z
    .string()
    .min(1)
    .max(250_000)
    .meta({ description: 'The text. Markup beyond simple formatting, links and images is removed.' }),
};

export const terms = operation({
  id: 'terms',
  tag: 'Agreements',
  method: 'GET',
  path: '/authenticate/terms',
  says: 'Returns the text, the buttons and the links of the dialog in which players consent before they sign in, in all languages and for the portal in the header.',
  access: authentication(),
  returns: ok(TermsObject),
  errors: ['ACTION_RESTRICTED_NO_TEST_KEY'],
  handle: (app, { language, portal }) => consentDialog(app, language, portal),
});

export const getCurrentAgreement = operation({
  id: 'get-current-agreement',
  tag: 'Agreements',
  method: 'GET',
  path: '/agreements/types/{agreement_type_id}/current',
  says: 'Shows the version of an agreement that is in force.',
  access: reader(),
  params: TypePath,
  returns: ok(AgreementVersionObject),
  errors: ['AGREEMENT_UNKNOWN_TYPE', 'RESOURCE_NOT_FOUND'],
  handle: async (app, { params, cache, portal }) => {
    const version = await requireCurrent(app, params.agreement_type_id);
    cache('agreements', 'users');
    return toAgreementVersion(app, version, portal);
  },
});

export const getAgreementVersions = operation({
  id: 'get-agreement-versions',
  tag: 'Agreements',
  method: 'GET',
  path: '/agreements/types/{agreement_type_id}/versions',
  says: 'Lists the versions of an agreement that are or were in force. The site staff also get drafts.',
  access: reader(),
  params: TypePath,
  list: versionListing,
  returns: ok(pageOf(AgreementVersionObject)),
  errors: ['AGREEMENT_UNKNOWN_TYPE'],
  handle: async (app, { caller, params, list, cache, portal }) => {
    const { rows, total } = await listVersions(app, caller, params.agreement_type_id, list);
    cache('agreements', 'users');
    return page(
      rows.map((row) => toAgreementVersion(app, row, portal)),
      total,
      list,
    );
  },
});

export const getAgreementVersion = operation({
  id: 'get-agreement-version',
  tag: 'Agreements',
  method: 'GET',
  path: '/agreements/versions/{agreement_version_id}',
  says: 'Shows one version of an agreement. Only the site staff can read drafts.',
  access: reader(),
  params: VersionPath,
  returns: ok(AgreementVersionObject),
  errors: ['AGREEMENT_CANNOT_VIEW_ADMINS_ONLY', 'RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params, cache, portal }) => {
    const version = await requireVersion(app, caller, params.agreement_version_id);
    cache('agreements', 'users');
    return toAgreementVersion(app, version, portal);
  },
});

export const addAgreementVersion = operation({
  id: 'add-agreement-version',
  tag: 'Agreements',
  method: 'POST',
  path: '/agreements/versions',
  says: 'Adds a draft of an agreement. For the site staff.',
  access: user('write', 'staff'),
  body: z.object({ ...texts, type: z.int(), changelog: texts.changelog.default('') }),
  once: true,
  returns: created(AgreementVersionObject),
  errors: ['AGREEMENT_CANNOT_ADD_ADMINS_ONLY', 'AGREEMENT_UNKNOWN_TYPE'],
  handle: async (app, { caller, body, portal }) => {
    const version = await addVersion(app, caller, body);
    return new Created(
      toAgreementVersion(app, version, portal),
      `${app.addresses.api}/agreements/versions/${version.id}`,
    );
  },
});

export const editAgreementVersion = operation({
  id: 'edit-agreement-version',
  tag: 'Agreements',
  method: 'PUT',
  path: '/agreements/versions/{agreement_version_id}',
  says: 'Changes a draft of an agreement, or puts a version in force in place of the current one. Users then have to accept it again. For the site staff.',
  access: user('write', 'staff'),
  params: VersionPath,
  body: z
    .object({ ...texts, is_active: z.literal(true).meta({ description: 'Puts the version in force.' }) })
    .partial(),
  returns: ok(AgreementVersionObject),
  errors: ['AGREEMENT_CANNOT_EDIT_ADMINS_ONLY', 'AGREEMENT_NOT_FOUND', 'AGREEMENT_CANNOT_ACTIVE_ALREADY_LIVE'],
  handle: async (app, { caller, params, body, portal }) =>
    toAgreementVersion(app, await changeVersion(app, caller, params.agreement_version_id, body), portal),
});

export const deleteAgreementVersion = operation({
  id: 'delete-agreement-version',
  tag: 'Agreements',
  method: 'DELETE',
  path: '/agreements/versions/{agreement_version_id}',
  says: 'Deletes a version of an agreement that is not in force. For the site staff.',
  access: user('write', 'staff'),
  params: VersionPath,
  returns: noContent,
  errors: ['AGREEMENT_CANNOT_DELETE_ADMINS_ONLY', 'AGREEMENT_NOT_FOUND', 'AGREEMENT_CANNOT_DELETE_LIVE_AGREEMENT'],
  handle: (app, { caller, params }) => deleteVersion(app, caller, params.agreement_version_id),
});

export const getUserAgreements = operation({
  id: 'get-user-agreements',
  tag: 'Me',
  method: 'GET',
  path: '/me/agreements',
  says: 'Lists the versions that the user has accepted. `is_active` is true for versions still in force.',
  access: user('read', 'profile'),
  list: acceptanceListing,
  returns: ok(pageOf(AgreementAcceptanceObject)),
  errors: [],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listAcceptances(app, caller, list);
    return page(rows.map(toAcceptance), total, list);
  },
});

export const acceptAgreement = operation({
  id: 'accept-agreement',
  tag: 'Me',
  method: 'POST',
  path: '/me/agreements',
  says: 'Accepts the version of an agreement that is in force.',
  access: user('write', 'profile'),
  body: z.object({ agreement_version_id: z.int().min(1) }),
  returns: created(AgreementAcceptanceObject),
  errors: ['AGREEMENT_NOT_FOUND', 'AGREEMENT_NO_VIEW_ACCESS', 'AGREEMENT_ALREADY_ACCEPTED'],
  handle: async (app, { caller, body }) => {
    const acceptance = await acceptVersion(app, caller, body.agreement_version_id);
    return new Created(toAcceptance(acceptance), `${app.addresses.api}/me/agreements`);
  },
});

export const agreementOperations = [
  terms,
  getCurrentAgreement,
  getAgreementVersions,
  getAgreementVersion,
  addAgreementVersion,
  editAgreementVersion,
  deleteAgreementVersion,
  getUserAgreements,
  acceptAgreement,
];
