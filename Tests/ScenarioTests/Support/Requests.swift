import JSON

/// Bodies of requests as a client would send them, valid unless a test spoils them.
enum Requests {
    static func authorization(_ subject: String, _ status: String = "authorized") -> JSONValue {
        ["subject": .string(subject), "category": "payment", "status": .string(status)]
    }

    /// A payment; with the shipped policies 900 EUR to a new payee is held when the device
    /// says 0.97.
    static func evaluation(
        _ requestID: String, subject: String = "acct-42", amount: Double = 900,
        device: Double = 0.97
    ) -> JSONValue {
        [
            "requestID": .string(requestID), "subject": .string(subject),
            "context": [
                "category": "payment",
                "attributes": ["amount": .double(amount), "currency": "EUR", "newPayee": true],
            ],
            "insights": [
                ["kind": "isLikelyBeingCoached", "schema": 1, "modelVersion": "current"]
            ],
            "device": ["value": .double(device)],
        ]
    }

    static func report(
        requestID: String, _ status: String = "usedIncreasedFriction"
    ) -> JSONValue { ["requestID": .string(requestID), "status": .string(status)] }

    static func label(
        _ labelID: String, requestID: String, at occurredAt: String = "2026-01-01T12:00:00Z"
    ) -> JSONValue {
        [
            "labelID": .string(labelID), "requestID": .string(requestID),
            "label": "confirmedFraud", "category": "vishing", "source": "customerReport",
            "occurredAt": .string(occurredAt),
        ]
    }

    /// A finished transcript, or another event, of an app installed long ago.
    static func donation(
        _ key: String, subject: String, device: String, reason: String = "finishedTranscript",
        version: String = "1.0", attributes: JSONValue? = nil
    ) -> JSONValue {
        var body: JSONObject = [
            "idempotencyKey": .string(key), "reason": .string(reason),
            "subject": .string(subject), "device": .string(device),
            "appVersion": .string(version), "distribution": "appStore", "timeZone": "UTC",
            "installedAt": "2020-01-01T00:00:00Z",
        ]
        body["attributes"] = attributes
        return .object(body)
    }
}

extension JSONValue {
    /// The same with a member changed, added, or (with `nil`) left out. The path is a JSON
    /// pointer without escapes.
    func with(_ pointer: String, _ value: JSONValue?) -> JSONValue {
        let parts = pointer.split(separator: "/").map(String.init)
        guard let first = parts.first else { return value ?? .null }
        guard case .object(var object) = self else { return self }
        if parts.count == 1 {
            object[first] = value
        } else {
            let rest = "/" + parts.dropFirst().joined(separator: "/")
            object[first] = (object[first] ?? .object([:])).with(rest, value)
        }
        return .object(object)
    }
}
