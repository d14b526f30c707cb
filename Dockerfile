# A worker of a workspace on several machines. Mount or copy the checkout of the definitions to
# /workspace, and give it GUILD_STORE (or PGPASSWORD), GUILD_TRUST and the keys of your models.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --pack-destination /tmp

FROM node:22-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends git bubblewrap && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/guildhall-*.tgz /tmp/guildhall.tgz
RUN npm install --global --omit=dev /tmp/guildhall.tgz && rm /tmp/guildhall.tgz
USER node
WORKDIR /workspace
ENV GUILD_STATE=/home/node/.guild-state
# Reads the store with the worker's own rights. A paused or broken worker is found by its lease, not here.
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s CMD ["guild", "state", "--quiet"]
STOPSIGNAL SIGINT
CMD ["guild", "watch"]
