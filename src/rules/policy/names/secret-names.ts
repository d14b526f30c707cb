/**
 * The one list of names that mean a secret. File tools, commands, the sandbox, search, history and
 * cassettes all ask here, so that a file is a secret everywhere or nowhere.
 */
import { foldedParts } from './normalize-path.js';

/**
 * Whether a file may contain a secret. A name that looks like a path out of the workspace counts.
 */
export function isSecretPath(path: string): boolean {
  if (!mayBeSecret(path)) return false;
  const folded = foldedParts(path);
  return folded === undefined || isSecretName(folded);
}

/** False if no spelling of this path can mean a secret. Costs far less than the whole check. */
export function mayBeSecret(path: string): boolean {
  return MAY_BE_SECRET.test(path);
}

/** Takes lower-case parts. Public keys are not secret. */
export function isSecretName(parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? '';
  return (
    parts.some((part) => part.startsWith('.env') || FOLDERS.has(part)) ||
    FILES.has(last) ||
    ENDS.test(last) ||
    (KEY.test(last) && !last.endsWith('.pub')) ||
    BELOW.test(parts.join('/'))
  );
}

const FOLDERS = new Set('secrets .ssh .aws .gnupg .gcloud .azure .kube .password-store'.split(' '));
const FILES = new Set(
  `.netrc _netrc .npmrc .pypirc .pgpass .git-credentials .htpasswd .bash_history .zsh_history .python_history
  .node_repl_history .psql_history .mysql_history .vault-token .boto .s3cfg kubeconfig credentials.json
  application_default_credentials.json rclone.conf`.split(/\s+/),
);
/** Keys, stores of secrets and their copies: `server.key.bak`, `prod.env`, `x.tfstate.backup`. */
const ENDS =
  /\.(pem|key|p8|p12|pfx|pk8|ppk|jks|keystore|kdbx|env|tfstate|tfvars|agekey)(\.(bak|backup|old|orig|save|copy|\d+)|~)*$/;
const KEY = /^(ssh_host_[a-z0-9]+_key|id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?)(?![a-z0-9])/;
const BELOW =
  /(^|\/)(\.docker\/config\.json|\.cargo\/credentials(\.toml)?|\.config\/(gh|gcloud|hub|op|rclone)(\/.*)?)$/;

/** Plain names without any of these texts need no folding. */
const MAY_BE_SECRET =
  /[^\w/.-]|(?:^|\/)[._]|secrets|ssh_host_|id_|kubeconfig|credentials|rclone|\.(?:pem|key|p8|p12|pfx|pk8|ppk|jks|keystore|kdbx|env|tfstate|tfvars|agekey)/i;
