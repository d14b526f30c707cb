/**
 * Vendors whose AI SDK package is installed only by those who use it. A package is loaded at the
 * first call; if it is missing, the error has the exact command.
 */
import type { Env } from '../../../domain/config/env.js';
import type { Provider } from '../../../domain/config/config.js';
import { defined } from '../../../domain/defined.js';
import type { Endpoint } from './endpoint.js';
import type { LanguageModel } from './prompt/types.js';

const VENDOR_PACKAGES = {
  mistral: '@ai-sdk/mistral@4',
  deepseek: '@ai-sdk/deepseek@3',
  openrouter: '@openrouter/ai-sdk-provider@3',
  groq: '@ai-sdk/groq@4',
  xai: '@ai-sdk/xai@5',
  azure: '@ai-sdk/azure@4',
  bedrock: '@ai-sdk/amazon-bedrock@5',
  vertex: '@ai-sdk/google-vertex@5',
} as const;

type VendorKind = keyof typeof VENDOR_PACKAGES;

export function isVendorKind(kind: Provider['kind']): kind is VendorKind {
  return Object.hasOwn(VENDOR_PACKAGES, kind);
}

interface Vendor {
  kind: VendorKind;
  headers: Record<string, string> | undefined;
  endpoint: Endpoint;
  env: Env;
  fetch: typeof globalThis.fetch;
}

export async function vendorModel(id: string, vendor: Vendor): Promise<LanguageModel> {
  try {
    return (await create(id, vendor)) as LanguageModel;
  } catch (error) {
    const name = VENDOR_PACKAGES[vendor.kind].replace(/@\d+$/, '');
    const { code, message = '' } = error as { code?: string; message?: string };
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)) throw new MissingPackageError(vendor.kind);
    throw error;
  }
}

/** The types of these packages differ in details that no call here depends on. */
async function create(id: string, { kind, headers, endpoint, env, fetch }: Vendor): Promise<unknown> {
  const { key: apiKey, baseUrl: baseURL } = endpoint;
  const base = defined({ fetch, headers, baseURL: baseURL || undefined });
  switch (kind) {
    case 'mistral':
      return (await import('@ai-sdk/mistral')).createMistral({ ...base, apiKey: apiKey ?? 'none' })(id);
    case 'deepseek':
      return (await import('@ai-sdk/deepseek')).createDeepSeek({ ...base, apiKey: apiKey ?? 'none' })(id);
    case 'openrouter':
      return (await import('@openrouter/ai-sdk-provider')).createOpenRouter({ ...base, apiKey: apiKey ?? 'none' })(id);
    case 'groq':
      return (await import('@ai-sdk/groq')).createGroq({ ...base, apiKey: apiKey ?? 'none' })(id);
    case 'xai':
      return (await import('@ai-sdk/xai')).createXai({ ...base, apiKey: apiKey ?? 'none' })(id);
    case 'azure': {
      const resourceName = env['AZURE_RESOURCE_NAME'];
      const { createAzure } = await import('@ai-sdk/azure');
      return createAzure({ ...base, ...(resourceName ? { resourceName } : {}), apiKey: apiKey ?? 'none' })(id);
    }
    case 'bedrock':
      return (await import('@ai-sdk/amazon-bedrock')).createAmazonBedrock({ ...base, ...aws(env, apiKey) })(id);
    case 'vertex': {
      const [project, location] = [env['GOOGLE_VERTEX_PROJECT'], env['GOOGLE_VERTEX_LOCATION']];
      const place = { ...base, ...(project ? { project } : {}), ...(location ? { location } : {}) };
      if (id.startsWith('claude-'))
        return (await import('@ai-sdk/google-vertex/anthropic')).createGoogleVertexAnthropic(place)(id);
      return (await import('@ai-sdk/google-vertex')).createGoogleVertex({ ...place, ...(apiKey ? { apiKey } : {}) })(
        id,
      );
    }
  }
}

/** A bearer token, or the keys for signed requests. */
function aws(env: Env, apiKey: string | undefined) {
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  const place = region ? { region } : {};
  if (apiKey !== undefined) return { ...place, apiKey };
  const sessionToken = env['AWS_SESSION_TOKEN'];
  return {
    ...place,
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
    ...(sessionToken ? { sessionToken } : {}),
  };
}

class MissingPackageError extends Error {
  constructor(kind: VendorKind) {
    // A copy that npm installed globally finds only packages that are installed globally, too.
    const isGlobal = /[\\/]lib[\\/]node_modules[\\/]guildhall[\\/]/.test(import.meta.url);
    super(`npm install ${isGlobal ? '-g ' : ''}${VENDOR_PACKAGES[kind]}`);
    this.name = 'MissingPackageError';
  }
}
